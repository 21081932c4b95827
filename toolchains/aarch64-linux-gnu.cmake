# Builds for 64-bit ARM Linux with the distribution's cross compiler. The target's libraries are installed next to the
# host's (multiarch), and programs for the target run under qemu's user emulation.
set(VITRINE_TARGET aarch64-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 CACHE STRING "emulator that runs programs for the target")
include(${CMAKE_CURRENT_LIST_DIR}/debian_multiarch.cmake)
