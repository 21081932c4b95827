#!/bin/sh
# Configures the Android presets with stand-ins for an NDK. A stand-in's toolchain file prints what it is
# given and ends the configure step there: this tests our half, no NDK.
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

# Configures a preset, which must fail, and must say TEXT. Line breaks do not count.
says() {  # TEXT PRESET [OPTION...]
  text=$1 preset=$2
  shift 2
  if out=$("$CMAKE" -S "$SOURCE" --preset "$preset" -B "$scratch/build" "$@" 2>&1); then
    echo "$preset $*: configured" >&2
    exit 1
  fi
  rm -rf "$scratch/build"
  case $(printf '%s' "$out" | tr -s ' \n' ' ') in
    *"$text"*) ;;
    *) printf '%s\n' "$preset $*: \"$text\" expected, but:" "$out" >&2; exit 1 ;;
  esac
}

ndk new 26.1.10909125
ndk old 25.2.9519653
mkdir "$scratch/none"

says 'set ANDROID_NDK or ANDROID_NDK_ROOT to the folder of an NDK, r26 or newer' android-arm64-v8a
says 'is not an Android NDK: it has no source.properties' android-arm64-v8a -DANDROID_NDK="$scratch/none"
says 'is r25, which is too old: install r26 or newer' android-arm64-v8a -DANDROID_NDK="$scratch/old"
says 'reached: x86_64 android-26 c++_static' android-x86_64 -DANDROID_NDK_ROOT="$scratch/new"
export ANDROID_NDK_ROOT="$scratch/new"
says 'reached: armeabi-v7a android-26 c++_static' android-armeabi-v7a
says 'reached: arm64-v8a android-30 c++_shared' android-arm64-v8a -DANDROID_PLATFORM=android-30 -DANDROID_STL=c++_shared
says 'ANDROID_PLATFORM=24: too low, set android-26 or higher' android-arm64-v8a -DANDROID_PLATFORM=24
export ANDROID_NDK="$scratch/old"  # the first of the two counts
says 'is r25, which is too old: install r26 or newer' android-arm64-v8a
