# Lists the libraries of the distribution that are needed to build Vitrine or to link components of an installed
# Vitrine. docs/dependencies.md gives the purpose of each library.
#
# name | how CMake finds it | Debian packages | options that need it | components that need it
set(VITRINE_DEPENDENCIES
  "nlohmann_json|package 3.11|nlohmann-json3-dev|VITRINE_BUILD_HOST|devtools aot llm"
  "fmt|package 9|libfmt-dev|VITRINE_BUILD_HOST|devtools aot llm"
  "CLI11|package 2|libcli11-dev|VITRINE_BUILD_HOST|devtools aot"
  "ZLIB|package|zlib1g-dev|VITRINE_BUILD_HOST|devtools aot llm"
  "PkgConfig|package|pkg-config|VITRINE_BUILD_HOST|llm"
  "ICU|modules icu-uc|libicu-dev|VITRINE_BUILD_HOST|llm"
  "Oniguruma|library ONIGURUMA_LIBRARY NAMES onig libonig.so.5|libonig-dev|VITRINE_BUILD_HOST|llm"
  "SentencePiece|library SENTENCEPIECE_LIBRARY sentencepiece|libsentencepiece-dev|VITRINE_BUILD_HOST|llm"
  "absl|package|libabsl-dev|VITRINE_BUILD_HOST|"
  "LIBZIP|modules libzip|libzip-dev|VITRINE_BUILD_TESTS|"
  "GTest|package|libgtest-dev libgmock-dev|VITRINE_BUILD_TESTS VITRINE_BUILD_BENCHMARKS|"
  "Highway|path HIGHWAY_INCLUDE_DIR hwy/highway.h|libhwy-dev||vitrine_select_kernels"
  "FlatBuffers|path FLATBUFFERS_INCLUDE_DIR flatbuffers/flatbuffers.h|libflatbuffers-dev||devtools aot"
  "flatc|program VITRINE_FLATC flatc|flatbuffers-compiler||vitrine_select_kernels"
  "xxHash|path XXHASH_INCLUDE_DIR xxhash.h|libxxhash-dev||"
  "Python 3|program VITRINE_PYTHON3 python3|python3||")

macro(_vitrine_read_dependency row)
  string(REPLACE "|" ";" fields "${row}")
  list(GET fields 0 name)
  list(GET fields 1 how)
  list(GET fields 2 packages)
  list(GET fields 3 options)
  list(GET fields 4 components)
endmacro()

# Looks for the dependencies that ARGN names. Appends a line to the text <out> for each missing dependency.
function(vitrine_find_dependencies out)
  set(lines "${${out}}")
  foreach(row IN LISTS VITRINE_DEPENDENCIES)
    _vitrine_read_dependency("${row}")
    if(NOT name IN_LIST ARGN)
      continue()
    endif()
    string(REPLACE " " ";" how "${how}")
    list(POP_FRONT how kind)
    set(version "")
    if(kind STREQUAL "package" AND TARGET ${name}::${name})
      set(found TRUE)
    elseif(kind STREQUAL "package")
      find_package(${name} ${how} QUIET)
      set(found "${${name}_FOUND}")
      if(how)
        set(version " ${how} or newer")
      endif()
    elseif(kind STREQUAL "modules")
      set(found TRUE)  # if pkg-config is missing, reports only pkg-config
      find_package(PkgConfig QUIET)
      if(PkgConfig_FOUND)
        pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${how})
        set(found "${${name}_FOUND}")
      endif()
    else()
      list(POP_FRONT how variable)
      cmake_language(CALL find_${kind} ${variable} ${how})
      set(found "${${variable}}")
    endif()
    if(NOT found)
      string(APPEND lines "  ${name}${version}: install ${packages}")
      if(options AND DEFINED VITRINE_BUILD_HOST)  # not defined for an installed Vitrine
        string(REPLACE " " "=OFF -D" options "${options}")
        string(APPEND lines ", or configure without it: -D${options}=OFF")
      endif()
      string(APPEND lines "\n")
    endif()
  endforeach()
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# Sets <out> to the libraries that `user`, a component or vitrine_select_kernels, needs.
function(vitrine_dependencies_of user out)
  set(needed "")
  foreach(row IN LISTS VITRINE_DEPENDENCIES)
    _vitrine_read_dependency("${row}")
    if(" ${components} " MATCHES " ${user} ")
      list(APPEND needed "${name}")
    endif()
  endforeach()
  set(${out} "${needed}" PARENT_SCOPE)
endfunction()

# Stops with a list of packages to install if a dependency is missing.
function(vitrine_require_dependencies user)
  set(missing "")
  vitrine_find_dependencies(missing ${ARGN})
  if(missing)
    message(FATAL_ERROR "${user} needs libraries that are not installed:\n${missing}")
  endif()
endfunction()
