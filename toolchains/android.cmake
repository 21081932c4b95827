# Builds for Android with the NDK's own toolchain file. The variable ANDROID_NDK or ANDROID_NDK_ROOT contains the path
# of the NDK's folder. Both can be CMake variables or environment variables. ANDROID_ABI names the processor
# architecture.
set(vitrine_oldest_ndk 26)  # the first whose clang (17) and libc++ have C++20 as used here
set(vitrine_oldest_api 26)  # Android 8: the first with `adb shell` commands that return their exit code

set(vitrine_ndk "")
foreach(candidate "${ANDROID_NDK}" "$ENV{ANDROID_NDK}" "${ANDROID_NDK_ROOT}" "$ENV{ANDROID_NDK_ROOT}")
  if(NOT candidate STREQUAL "")
    file(TO_CMAKE_PATH "${candidate}" vitrine_ndk)
    break()
  endif()
endforeach()
if(vitrine_ndk STREQUAL "")
  message(FATAL_ERROR "No Android NDK: set ANDROID_NDK or ANDROID_NDK_ROOT to the folder of an NDK, "
                      "r${vitrine_oldest_ndk} or newer")
endif()
foreach(file source.properties build/cmake/android.toolchain.cmake)
  if(NOT EXISTS "${vitrine_ndk}/${file}")
    message(FATAL_ERROR "${vitrine_ndk} is not an Android NDK: it has no ${file}. Set ANDROID_NDK or "
                        "ANDROID_NDK_ROOT to the folder of one")
  endif()
endforeach()

file(STRINGS "${vitrine_ndk}/source.properties" vitrine_revision REGEX "^Pkg.Revision")
if(NOT vitrine_revision MATCHES "= *([0-9]+)")
  message(FATAL_ERROR "${vitrine_ndk}/source.properties: no Pkg.Revision")
elseif(CMAKE_MATCH_1 LESS vitrine_oldest_ndk)
  message(FATAL_ERROR "The Android NDK of ${vitrine_ndk} is r${CMAKE_MATCH_1}, which is too old: install "
                      "r${vitrine_oldest_ndk} or newer")
endif()

if(NOT ANDROID_PLATFORM)
  set(ANDROID_PLATFORM android-${vitrine_oldest_api})
elseif(ANDROID_PLATFORM MATCHES "^(android-)?([0-9]+)$" AND CMAKE_MATCH_2 LESS vitrine_oldest_api)
  message(FATAL_ERROR "ANDROID_PLATFORM=${ANDROID_PLATFORM}: too low, set android-${vitrine_oldest_api} or higher")
endif()
if(NOT ANDROID_STL)
  set(ANDROID_STL c++_static)  # one file to push
endif()
# CMake's compiler tests read this file too, so they need these variables.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANDROID_NDK ANDROID_NDK_ROOT)
include("${vitrine_ndk}/build/cmake/android.toolchain.cmake")
