# Relative relocations as a bitmap (RELR): a byte each instead of 24. The loader must know them, which glibc's
# does from 2.36 on.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
check_cxx_source_compiles("
  #include <features.h>
  #if !__GLIBC_PREREQ(2, 36)
  #error an older loader
  #endif
  int main() { return 0; }" VITRINE_HAS_PACKED_RELOCATIONS FAIL_REGEX "ignored|unknown|unsupported")
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(VITRINE_HAS_PACKED_RELOCATIONS)
  add_link_options(-Wl,-z,pack-relative-relocs)
endif()
