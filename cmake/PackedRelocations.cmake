# Stores relative relocations as a bitmap (RELR), which takes about one byte per relocation instead of 24. The loader
# must support RELR, as glibc's loader does since version 2.36.
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
