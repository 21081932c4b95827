# Builds for 64-bit RISC-V Linux (rv64gc). XNNPACK's vector kernels are built too, but run only on processors with the
# vector extension.
set(VITRINE_TARGET riscv64-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-riscv64 CACHE STRING "emulator that runs programs for the target")
include(${CMAKE_CURRENT_LIST_DIR}/debian_multiarch.cmake)
