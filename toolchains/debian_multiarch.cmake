# Sets the compilers and library paths for a Debian architecture. A toolchain file sets VITRINE_TARGET to the
# architecture's triplet and then includes this file.
set(CMAKE_C_COMPILER ${VITRINE_TARGET}-gcc)
set(CMAKE_CXX_COMPILER ${VITRINE_TARGET}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${VITRINE_TARGET})
# CMake must never search the host's libraries.
set(CMAKE_IGNORE_PATH /usr/lib/x86_64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${VITRINE_TARGET}/pkgconfig:/usr/share/pkgconfig)
