# Functions that define libraries and tests.
include(GNUInstallDirs)

set(VITRINE_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
# Sources include other headers by their path from the root, and public headers as "vitrine/...".
set(VITRINE_INCLUDE_DIRS ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${VITRINE_GENERATED_DIR}/include)
# The subfolder of the include folder for installed headers of the host side.
set(VITRINE_DEVTOOLS_HEADERS vitrine-devtools)

add_library(vitrine_warnings INTERFACE)
if(VITRINE_STRICT)
  target_compile_options(vitrine_warnings INTERFACE
    -Wall -Wextra -Wpedantic
    # Code of the host side checks 64-bit file sizes before it converts them to size_t. On 32-bit targets, -Wconversion
    # would warn of these conversions, so the host side is compiled without this warning.
    $<$<OR:$<EQUAL:${CMAKE_SIZEOF_VOID_P},8>,$<BOOL:$<TARGET_PROPERTY:VITRINE_DEVICE>>>:-Wconversion>
    -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Werror
    # In Clang, -Wconversion includes -Wsign-conversion. In GCC, it does not.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
    # In unity builds, Clang's -Wshadow also compares with declarations in other source files. GCC and the preset
    # `debug` still check for shadowed names.
    $<$<AND:$<CXX_COMPILER_ID:Clang>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-shadow>)
endif()

# Sets the options that every library has: warnings, language standard and include folders.
function(_vitrine_library name)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:vitrine_warnings>)
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${VITRINE_INCLUDE_DIRS}>")
  target_compile_features(${name} PUBLIC cxx_std_20)
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)
    # A 64-bit off_t allows files larger than 2 GB. The definition can be private, because Vitrine's headers do not use
    # off_t.
    target_compile_definitions(${name} PRIVATE _FILE_OFFSET_BITS=64)
  endif()
endfunction()

function(vitrine_device_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${VITRINE_DEVICE_OPTIONS})
  set_target_properties(${name} PROPERTIES VITRINE_DEVICE ON)
  _vitrine_library(${name})
endfunction()

# Turns off false warnings of GCC 12's optimizer about std::string and std::vector (GCC bugs 105651, 105329).
set(VITRINE_LIBRARY_WARNINGS
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)

# In builds with sanitizers, GCC 12 falsely warns that members of <regex> and std::variant are uninitialized. In C++23,
# it also warns of members of std::optional.
set(VITRINE_NO_UNINITIALIZED_WARNING $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

# Sets <variable> to the concatenated text of the files. CMake configures again if a file changes.
function(vitrine_read_text variable)
  set(texts "")
  foreach(file ${ARGN})
    file(READ ${file} text)
    string(APPEND texts "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(${variable} "${texts}" PARENT_SCOPE)
endfunction()

# Defines a library of host code that runs only a few times per model: readers of records, lowering, reports. -Os
# compiles faster than -O2, and -O0 compiles faster still.
set(VITRINE_HOST_OPTIONS ${VITRINE_LIBRARY_WARNINGS} $<IF:$<CONFIG:RelWithDebInfo,Release>,-Os,-O0>)
function(vitrine_host_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${VITRINE_HOST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM vitrine_host_headers)
  _vitrine_host_library(${name})
endfunction()

# Defines a library of host code that runs for each byte or token. -O3 would not make it faster than -O2.
function(vitrine_fast_host_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${VITRINE_LIBRARY_WARNINGS} $<$<CONFIG:RelWithDebInfo,Release>:-O2>)
  _vitrine_host_library(${name})
endfunction()

function(_vitrine_host_library name)
  _vitrine_library(${name})
  target_include_directories(${name} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/${VITRINE_DEVTOOLS_HEADERS}>)
endfunction()

string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
string(REGEX MATCH "-O3" VITRINE_FASTEST_CODE "${CMAKE_CXX_FLAGS_${config}} ${CMAKE_CXX_FLAGS}")

# Uses -O2 with vectorized loops. With -O3, the target's code would be larger, but hardly faster.
function(vitrine_compact_code name)
  if(VITRINE_FASTEST_CODE)
    target_compile_options(${name} PRIVATE -O2
      $<$<CXX_COMPILER_ID:GNU>:-ftree-vectorize> $<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=cheap>)
  endif()
endfunction()

# Uses -O3 for the given files of a target that vitrine_compact_code() compiles with -O2.
function(vitrine_fastest_code name)
  if(VITRINE_FASTEST_CODE)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${name} PROPERTIES COMPILE_OPTIONS -O3)
  endif()
endfunction()

# Uses -Os, for large code that runs once.
function(vitrine_small_code name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:-Os>)
endfunction()

# Test code uses -O0, which compiles fastest. Cross builds use -O1, because emulators are slow.
set(VITRINE_TEST_OPTIONS ${VITRINE_LIBRARY_WARNINGS}
  $<IF:$<AND:$<CONFIG:RelWithDebInfo,Release>,$<BOOL:${CMAKE_CROSSCOMPILING}>>,-O1,-O0>)

# Defines a test executable. By default, ctest runs each test separately. With AS_ONE (for many short tests), ctest runs
# all tests together. With BY_HAND, ctest runs none of the tests.
function(vitrine_test name)
  cmake_parse_arguments(arg "AS_ONE;BY_HAND" "" "SOURCES;LINK" ${ARGN})
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source)
    set_property(GLOBAL APPEND PROPERTY VITRINE_TEST_SOURCES ${source})
  endforeach()
  target_link_libraries(${name} PRIVATE ${arg_LINK} vitrine_test_support GTest::gmock GTest::gtest_main vitrine_warnings)
  target_include_directories(${name} PRIVATE ${VITRINE_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE ${VITRINE_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM vitrine_test_headers)
  if(arg_BY_HAND)
    return()
  endif()
  if(arg_AS_ONE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 COST 100)  # long ones start first
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900)
  endif()
endfunction()
