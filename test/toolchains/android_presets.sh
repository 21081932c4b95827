#!/bin/sh
# Configures the Android presets with fake NDKs. The toolchain file of a fake NDK prints its variables and
# stops the configure step, so this tests only the presets.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset ANDROID_NDK ANDROID_NDK_ROOT

ndk() {  # NAME REVISION
  mkdir -p "$scratch/$1/build/cmake"
  printf 'Pkg.Desc = Android NDK\nPkg.Revision = %s\n' "$2" >"$scratch/$1/source.properties"
  cat >"$scratch/$1/build/cmake/android.toolchain.cmake" <<'END'
message(FATAL_ERROR "reached: ${ANDROID_ABI} ${ANDROID_PLATFORM} ${ANDROID_STL}")
END
}

# Configures a preset, which must fail and print TEXT. Line breaks in the output are ignored.
expect_error() {  # TEXT PRESET [OPTION...]
  text=$1 preset=$2
  shift 2
  if out=$("$CMAKE" -S "$SOURCE" --preset "$preset" -B "$scratch/build" "$@" 2>&1); then
    echo "$preset $*: expected an error, but it configured" >&2
    exit 1
  fi
  rm -rf "$scratch/build"
  case $(printf '%s' "$out" | tr -s ' \n' ' ') in
    *"$text"*) ;;
    *) printf '%s\n' "$preset $*: expected \"$text\", found:" "$out" >&2; exit 1 ;;
  esac
}

ndk new 26.1.10909125
ndk old 25.2.9519653
mkdir "$scratch/none"

expect_error 'set ANDROID_NDK or ANDROID_NDK_ROOT to the folder of an NDK, r26 or newer' android-arm64-v8a
expect_error 'is not an Android NDK: it has no source.properties' android-arm64-v8a -DANDROID_NDK="$scratch/none"
expect_error 'is r25, which is too old: install r26 or newer' android-arm64-v8a -DANDROID_NDK="$scratch/old"
expect_error 'reached: x86_64 android-31 c++_static' android-x86_64 -DANDROID_NDK_ROOT="$scratch/new"
export ANDROID_NDK_ROOT="$scratch/new"
expect_error 'reached: armeabi-v7a android-31 c++_static' android-armeabi-v7a
expect_error 'reached: arm64-v8a android-34 c++_shared' android-arm64-v8a -DANDROID_PLATFORM=android-34 -DANDROID_STL=c++_shared
expect_error 'ANDROID_PLATFORM=24: too low, set android-26 or higher' android-arm64-v8a -DANDROID_PLATFORM=24
export ANDROID_NDK="$scratch/old"  # ANDROID_NDK has precedence
expect_error 'is r25, which is too old: install r26 or newer' android-arm64-v8a
