# Builds for 32-bit ARM Linux with NEON and fused multiply-adds (Cortex-A7 and later, or a 64-bit core). XNNPACK's
# kernels and Highway's vectors need these instructions. Debian's own libraries do not need them.
set(VITRINE_TARGET arm-linux-gnueabihf)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm CACHE STRING "emulator that runs programs for the target")
# Without -Wno-psabi, GCC reports each function whose arguments GCC 6 passed differently.
foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4 -Wno-psabi")
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/debian_multiarch.cmake)
