# Helpers for the layers: one CMake target per layer, each with its own sources and links.
include(GNUInstallDirs)

set(VITRINE_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
# Sources name files from the root; public headers are "vitrine/...".
set(VITRINE_INCLUDE_DIRS ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${VITRINE_GENERATED_DIR}/include)
# Where headers of the host side, which are not public, are installed below the include folder.
set(VITRINE_DEVTOOLS_HEADERS vitrine-devtools)

add_library(vitrine_warnings INTERFACE)
if(VITRINE_STRICT)
  target_compile_options(vitrine_warnings INTERFACE
    -Wall -Wextra -Wpedantic
    # Where addresses have 32 bits the host side converts sizes of files everywhere, after it has checked them.
    $<$<OR:$<EQUAL:${CMAKE_SIZEOF_VOID_P},8>,$<BOOL:$<TARGET_PROPERTY:VITRINE_DEVICE>>>:-Wconversion>
    -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Werror
    # In clang, -Wconversion includes warnings that GCC has separately.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
endif()

# What every library has: its warnings, and the language and headers of those that use it.
function(_vitrine_library name)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:vitrine_warnings>)
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${VITRINE_INCLUDE_DIRS}>")
  target_compile_features(${name} PUBLIC cxx_std_20)
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)
    # Files above 2 GB. No header has an off_t.
    target_compile_definitions(${name} PRIVATE _FILE_OFFSET_BITS=64)
  endif()
endfunction()

# Code that runs on devices.
function(vitrine_device_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${VITRINE_DEVICE_OPTIONS})
  set_target_properties(${name} PROPERTIES VITRINE_DEVICE ON)
  _vitrine_library(${name})
endfunction()

# Warnings of GCC 12's optimiser about its own library (std::string, std::vector; GCC bugs 105651,
# 105329): off on the host side, where these containers are used.
set(VITRINE_LIBRARY_WARNINGS
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)

# With sanitizers, GCC 12 reports <regex> and variants as uninitialised; as C++23 optionals, too.
set(VITRINE_NO_UNINITIALIZED_WARNING $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

# Sets the variable to the text of the files, one behind the other. A change of one configures again.
function(vitrine_read_text variable)
  set(texts "")
  foreach(file ${ARGN})
    file(READ ${file} text)
    string(APPEND texts "${text}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(${variable} "${texts}" PARENT_SCOPE)
endfunction()

# Code that runs on hosts only: readers, reports, tools.
# -O3 compiles a sixth longer and gains nothing here.
function(vitrine_host_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${VITRINE_LIBRARY_WARNINGS} $<$<CONFIG:RelWithDebInfo,Release>:-O2>)
  _vitrine_library(${name})
  target_include_directories(${name} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/${VITRINE_DEVTOOLS_HEADERS}>)
endfunction()

string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
string(REGEX MATCH "-O3" VITRINE_FASTEST_CODE "${CMAKE_CXX_FLAGS_${config}} ${CMAKE_CXX_FLAGS}")

# Code that -O3 makes half as large again for little speed (docs/performance.md, "Size"): -O2, with long loops
# vectorised all the same.
function(vitrine_compact_code name)
  if(VITRINE_FASTEST_CODE)
    target_compile_options(${name} PRIVATE -O2
      $<$<CXX_COMPILER_ID:GNU>:-ftree-vectorize> $<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=cheap>)
  endif()
endfunction()

# Files of a target with compact code that are worth their size.
function(vitrine_fastest_code name)
  if(VITRINE_FASTEST_CODE)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${name} PROPERTIES COMPILE_OPTIONS -O3)
  endif()
endfunction()

# Code that runs once and is large: its size counts more than its speed (docs/performance.md, "Size").
function(vitrine_small_code name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:-Os>)
endfunction()

# Test code: host side. Without optimisation it compiles in 0.6 to 0.8 of the time; an emulated processor needs a little.
set(VITRINE_TEST_OPTIONS ${VITRINE_LIBRARY_WARNINGS}
  $<IF:$<AND:$<CONFIG:RelWithDebInfo,Release>,$<BOOL:${CMAKE_CROSSCOMPILING}>>,-O1,-O0>)

# One executable per room of tests; sources mirror the tree of the code. ctest runs each test
# separately, all as one (AS_ONE) if there are thousands of short ones, or none (BY_HAND).
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
