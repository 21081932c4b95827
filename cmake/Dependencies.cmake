# Finds libraries of the distribution, and builds XNNPACK and the libraries that it needs from pinned sources.
#
# The pinned sources are built into VITRINE_DEPS_DIR (default: below the user's cache folder), once per compiler and
# pin. All presets, build folders and clones share the result.

include(GNUInstallDirs)
include(DistributionPackages)
find_package(Threads REQUIRED)

set(missing "")
# Builds for Android use header-only libraries of the build machine. The machine's whole folder of headers would hide
# the NDK's headers, so this code makes a folder with links to the needed headers.
if(ANDROID)
  set(folder ${PROJECT_BINARY_DIR}/host_headers)
  file(MAKE_DIRECTORY ${folder})
  foreach(row HIGHWAY|hwy/highway.h FLATBUFFERS|flatbuffers/flatbuffers.h XXHASH|xxhash.h
          nlohmann_json|nlohmann/json.hpp fmt|fmt/format.h CLI11|CLI/CLI.hpp)
    string(REPLACE "|" ";" row ${row})
    list(GET row 0 library)
    list(GET row 1 header)
    find_path(VITRINE_HOST_${library} ${header} PATHS /usr/local/include /usr/include NO_CMAKE_FIND_ROOT_PATH)
    if(NOT VITRINE_HOST_${library})
      continue()
    endif()
    string(REGEX REPLACE "/.*" "" linked ${header})
    file(CREATE_LINK ${VITRINE_HOST_${library}}/${linked} ${folder}/${linked} SYMBOLIC)
    set(${library}_INCLUDE_DIR ${folder})
    add_library(${library}::${library} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${library}::${library} INTERFACE ${folder})
  endforeach()
  if(TARGET fmt::fmt)
    target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
  endif()
endif()

option(VITRINE_PINNED_TOKENIZER_LIBRARIES
       "Oniguruma and SentencePiece from pinned sources (cmake/TokenizerLibraries.cmake)" ${ANDROID})
vitrine_find_dependencies(missing Highway FlatBuffers flatc xxHash "Python 3")
if(VITRINE_BUILD_HOST)
  vitrine_find_dependencies(missing nlohmann_json fmt CLI11 ZLIB)
  if(ANDROID)
    find_library(VITRINE_ANDROID_ICU icu)
    if(VITRINE_ANDROID_ICU)
      add_library(PkgConfig::ICU INTERFACE IMPORTED GLOBAL)
      target_link_libraries(PkgConfig::ICU INTERFACE ${VITRINE_ANDROID_ICU})
    else()
      string(APPEND missing "  ICU: the NDK has ICU since API level 31; configure with -DANDROID_PLATFORM=android-31, "
                            "or omit the host side with -DVITRINE_BUILD_HOST=OFF\n")
    endif()
  else()
    vitrine_find_dependencies(missing PkgConfig ICU)
  endif()
  if(VITRINE_PINNED_TOKENIZER_LIBRARIES)
    set(uses_abseil FALSE)
  else()
    vitrine_find_dependencies(missing Oniguruma)
    find_path(ONIGURUMA_INCLUDE_DIR oniguruma.h)
    # Debian's SentencePiece cannot be used for cross-compiling, so cross builds reject SentencePiece models.
    set(missing_sentencepiece "")
    vitrine_find_dependencies(missing_sentencepiece SentencePiece)
    if(NOT CMAKE_CROSSCOMPILING)
      string(APPEND missing "${missing_sentencepiece}")
    endif()
    find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h)
    if(SENTENCEPIECE_LIBRARY AND SENTENCEPIECE_INCLUDE_DIR)
      file(STRINGS ${SENTENCEPIECE_INCLUDE_DIR}/sentencepiece_processor.h uses_abseil REGEX "include <absl/" LIMIT_COUNT 1)
      if(uses_abseil)  # from 0.2.2 on
        vitrine_find_dependencies(missing absl)
      endif()
    endif()
  endif()
endif()
if(VITRINE_BUILD_TESTS)
  vitrine_find_dependencies(missing LIBZIP)  # independent reader and writer of archives
endif()
if(VITRINE_BUILD_TESTS OR VITRINE_BUILD_BENCHMARKS)
  vitrine_find_dependencies(missing GTest)
endif()
if(missing)
  message(FATAL_ERROR "Vitrine needs libraries that are not installed:\n${missing}"
                      "The packages are Debian's; ${PROJECT_SOURCE_DIR}/cmake/setup.sh <preset> installs them.")
endif()

if(DEFINED ENV{XDG_CACHE_HOME})
  set(default_deps_dir $ENV{XDG_CACHE_HOME}/vitrine)
elseif(DEFINED ENV{HOME})
  set(default_deps_dir $ENV{HOME}/.cache/vitrine)
else()
  set(default_deps_dir ${PROJECT_SOURCE_DIR}/build/deps)
endif()
set(VITRINE_DEPS_DIR ${default_deps_dir} CACHE PATH "where pinned sources are kept and built")
set(VITRINE_DOWNLOADS "" CACHE PATH "folder of already downloaded source archives (docs/dependencies.md)")
include(XnnpackPin)

if(VITRINE_BUILD_HOST AND VITRINE_PINNED_TOKENIZER_LIBRARIES)
  include(TokenizerLibraries)
endif()
if(VITRINE_BUILD_HOST)
  # Debian cannot install Oniguruma's development packages for two architectures together. Cross builds therefore use
  # the identical header of the build machine.
  add_library(vitrine_oniguruma INTERFACE)
  add_library(third_party::oniguruma ALIAS vitrine_oniguruma)
  target_include_directories(vitrine_oniguruma SYSTEM INTERFACE $<BUILD_INTERFACE:${ONIGURUMA_INCLUDE_DIR}>)
  target_link_libraries(vitrine_oniguruma INTERFACE $<BUILD_INTERFACE:${ONIGURUMA_LIBRARY}> $<INSTALL_INTERFACE:onig>)

  # SentencePiece's pkg-config file would also add the training library.
  add_library(vitrine_sentencepiece INTERFACE)
  add_library(third_party::sentencepiece ALIAS vitrine_sentencepiece)
  if(SENTENCEPIECE_LIBRARY)
    target_include_directories(vitrine_sentencepiece SYSTEM INTERFACE $<BUILD_INTERFACE:${SENTENCEPIECE_INCLUDE_DIR}>)
    target_link_libraries(vitrine_sentencepiece INTERFACE
      $<BUILD_INTERFACE:${SENTENCEPIECE_LIBRARY}> $<INSTALL_INTERFACE:sentencepiece>)
    if(uses_abseil)
      target_link_libraries(vitrine_sentencepiece INTERFACE $<BUILD_INTERFACE:absl::status> $<INSTALL_INTERFACE:absl_status>)
    endif()
  endif()
endif()

# On x86, kernels are compiled for several instruction sets, and one set is chosen at run time
# (runtime/platform/simd_dispatch.h). On other architectures and on Android, kernels are compiled only for the
# compiler's target.
add_library(vitrine_highway INTERFACE)
add_library(third_party::highway ALIAS vitrine_highway)
target_include_directories(vitrine_highway SYSTEM INTERFACE $<BUILD_INTERFACE:${HIGHWAY_INCLUDE_DIR}>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86" AND NOT ANDROID)
  # Only very old machines have SSSE3 without newer instruction sets.
  set(VITRINE_DISABLED_SIMD_TARGETS HWY_SSSE3 CACHE STRING "Highway targets for which no SIMD kernels are compiled, separated by |")
  target_compile_definitions(vitrine_highway INTERFACE "HWY_DISABLED_TARGETS=(${VITRINE_DISABLED_SIMD_TARGETS})")
else()
  # Kernels use arrays of vectors, so the vector type must have a fixed size.
  target_compile_definitions(vitrine_highway INTERFACE HWY_COMPILE_ONLY_STATIC
    "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^armv7" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-mfp16-format=ieee)  # enables __fp16 in GCC; precompiled headers need it in all targets
  endif()
endif()

option(VITRINE_KLEIDIAI "XNNPACK uses an installed KleidiAI; 64-bit ARM only (docs/dependencies.md)" OFF)
if(VITRINE_KLEIDIAI AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  message(FATAL_ERROR "VITRINE_KLEIDIAI=ON is for 64-bit ARM, but this build is for ${CMAKE_SYSTEM_PROCESSOR}")
endif()

function(vitrine_build_third_party)
  set(project ${PROJECT_SOURCE_DIR}/cmake/third_party)
  # XNNPACK is slower if GCC compiles it, so native builds use Clang if they find it (docs/dependencies.md).
  set(compilers "")
  if(NOT CMAKE_CROSSCOMPILING)
    find_program(VITRINE_CLANG clang)
    find_program(VITRINE_CLANGXX clang++)
    if(VITRINE_CLANG AND VITRINE_CLANGXX)
      set(compilers -DCMAKE_C_COMPILER=${VITRINE_CLANG} -DCMAKE_CXX_COMPILER=${VITRINE_CLANGXX})
    else()
      message(WARNING "clang not found: XNNPACK will be up to 1.8x slower on CPUs without AVX-512")
    endif()
  endif()
  set(version "")
  if(VITRINE_CLANG)
    execute_process(COMMAND ${VITRINE_CLANG} --version OUTPUT_VARIABLE version ERROR_QUIET)
  elseif(CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ${CMAKE_C_COMPILER} --version OUTPUT_VARIABLE version ERROR_QUIET)
  endif()

  include(${project}/pins.cmake)
  file(GLOB recipe LIST_DIRECTORIES false ${project}/*)
  list(APPEND recipe ${VITRINE_SOURCE_PATCHES})
  set(fingerprint "${VITRINE_XNNPACK_PIN};${compilers};${version};${CMAKE_SYSTEM_PROCESSOR}")
  if(ANDROID)
    list(APPEND compilers -DANDROID_NDK=${ANDROID_NDK} -DANDROID_ABI=${ANDROID_ABI} -DANDROID_PLATFORM=${ANDROID_PLATFORM})
    string(APPEND fingerprint ";${compilers}")
  endif()
  if(CMAKE_TOOLCHAIN_FILE)
    list(APPEND compilers -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE})
  endif()
  if(VITRINE_KLEIDIAI)
    find_package(KleidiAI CONFIG QUIET)
    list(APPEND compilers -DVITRINE_KLEIDIAI=ON -DKleidiAI_DIR=${KleidiAI_DIR})
    string(APPEND fingerprint ";KleidiAI ${KleidiAI_VERSION} ${KleidiAI_DIR}")
  endif()
  foreach(file IN LISTS recipe)
    file(SHA256 ${file} hash)
    string(APPEND fingerprint ";${hash}")
  endforeach()
  string(SHA256 key "${fingerprint}")
  string(SUBSTRING ${key} 0 16 key)
  set(folder ${VITRINE_DEPS_DIR}/${key})
  # Patches change the sources in place, so a build with other patches needs another copy of the sources.
  set(contents "${VITRINE_PINS}")
  foreach(file IN LISTS VITRINE_SOURCE_PATCHES)
    file(SHA256 ${file} hash)
    string(APPEND contents ";${hash}")
  endforeach()
  string(SHA256 contents "${contents}")
  string(SUBSTRING ${contents} 0 16 contents)
  set(sources ${VITRINE_DEPS_DIR}/sources-${contents})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${recipe})

  vitrine_read_pin(pin "${VITRINE_PINS}")
  string(SUBSTRING ${pin_COMMIT} 0 7 commit)
  message(STATUS "XNNPACK ${commit} (VITRINE_XNNPACK_PIN=${VITRINE_XNNPACK_PIN})")
  file(MAKE_DIRECTORY ${folder})
  file(LOCK ${folder}.lock GUARD FUNCTION)  # two presets configured at once build it once
  if(NOT EXISTS ${folder}/complete)
    message(STATUS "Building XNNPACK (${VITRINE_XNNPACK_PIN}) from source, once: about 2 minutes on 2 cores; log: ${folder}/build.log")
    # If another clone started this build, CMake's cache contains the path of that clone. `--fresh` discards the cache.
    execute_process(
      COMMAND ${CMAKE_COMMAND} --fresh -S ${project} -B ${folder}/build -G Ninja
              -DCMAKE_BUILD_TYPE=Release ${compilers}
              -DVITRINE_XNNPACK_PIN=${VITRINE_XNNPACK_PIN}
              -DVITRINE_SOURCES_DIR=${sources}
              -DVITRINE_DOWNLOADS=${VITRINE_DOWNLOADS}
      RESULT_VARIABLE status OUTPUT_FILE ${folder}/configure.log ERROR_VARIABLE errors)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "cannot configure the third-party project:\n${errors}\n"
                          "(${folder}/configure.log)")
    endif()
    # Prints a line after each tenth of ninja's build steps. Ninja's output lines begin with text such as "[7/1000]".
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env "NINJA_STATUS=[%f/%t] " ${CMAKE_COMMAND} --build ${folder}/build
      COMMAND tee ${folder}/build.log
      COMMAND awk -F "[][/]" "/^.[0-9]+.[0-9]+. / && int(10 * $2 / $3) > last {
          last = int(10 * $2 / $3); print \"--   XNNPACK: \" $2 \" of \" $3 \" steps\"; fflush() }"
      RESULTS_VARIABLE results ERROR_FILE ${folder}/errors.log)
    list(GET results 0 status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "cannot build XNNPACK; see ${folder}/build.log")
    endif()
    file(WRITE ${folder}/complete "")
  endif()
  include(${folder}/build/imported.cmake)

  add_library(vitrine_xnnpack_library INTERFACE)
  add_library(third_party::xnnpack ALIAS vitrine_xnnpack_library)
  foreach(library IN LISTS VITRINE_XNNPACK_LIBRARIES)
    cmake_path(GET library FILENAME name)
    target_link_libraries(vitrine_xnnpack_library INTERFACE
      $<BUILD_INTERFACE:${library}>
      $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/vitrine/${name}>)
  endforeach()
  target_link_libraries(vitrine_xnnpack_library INTERFACE Threads::Threads m)
  target_include_directories(vitrine_xnnpack_library SYSTEM INTERFACE "$<BUILD_INTERFACE:${VITRINE_XNNPACK_INCLUDE_DIRS}>")
  set(VITRINE_XNNPACK_LIBRARIES ${VITRINE_XNNPACK_LIBRARIES} PARENT_SCOPE)
  set(VITRINE_XNNPACK_BUILD ${key} PARENT_SCOPE)
  set(VITRINE_SOURCES_DIR ${sources} PARENT_SCOPE)
  # runtime_access.h of the XNNPACK backend needs these folders.
  set(VITRINE_XNNPACK_PRIVATE_INCLUDE_DIRS ${VITRINE_XNNPACK_PRIVATE_INCLUDE_DIRS} PARENT_SCOPE)
endfunction()
vitrine_build_third_party()

if(VITRINE_BUILD_HOST)
  include(GraphLayout)
endif()
