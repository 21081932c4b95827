#!/bin/sh
# Compiles the runtime and the API to objects for Android's targets, by clang, strictly. The sysroot is a
# stand-in, the headers of this system's libc and C++ library: this tests the targets' types, instruction
# sets and warnings, but neither bionic, nor libc++, nor linking.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$SOURCE"

# glibc's headers are those of one processor: these let the compiler say what the target is.
mkdir -p "$scratch/include/gnu" "$scratch/include/bits" "$scratch/include/android"
: >"$scratch/include/gnu/stubs-32.h"
: >"$scratch/include/android/api-level.h"
cat >"$scratch/include/bits/wordsize.h" <<'END_OF_HEADER'
#define __WORDSIZE (8 * __SIZEOF_POINTER__)
#define __WORDSIZE_TIME64_COMPAT32 0
#define __SYSCALL_WORDSIZE 64
END_OF_HEADER

# Where this system's compiler looks for headers, but for its own.
includes=$("$CLANG" -E -x c++ -v /dev/null 2>&1 >/dev/null |
  sed -n '/^#include <...>/,/^End/s/^ \(.*\)/-isystem \1/p' | grep -v '/lib/clang/\|/llvm')
libraries=$(echo "$XNNPACK_INCLUDES" | tr ':' '\n' | sed 's/^/-isystem /')
flags="-std=c++20 -fPIC -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow
  -Wnon-virtual-dtor -Wold-style-cast -Werror -D__regparm__(n)=__unused__ -nostdinc++ -nostdlibinc -isystem $scratch/include
  $includes $libraries -I . -I include -I $GENERATED -I $GENERATED/include"

# Compiles rooms as one file, which must define a symbol like PATTERN.
compile() {  # TARGET PATTERN ROOM...
  target=$1 pattern=$2 object=$scratch/$1$2
  shift 2
  for room in "$@"; do
    for file in "$room"/*.cc; do echo "#include \"$file\""; done
  done >"$object.cc"
  # shellcheck disable=SC2086
  "$CLANG" --target="$target" $flags -c "$object.cc" -o "$object.o"
  "$NM" --defined-only "$object.o" | grep -q "$pattern" || { echo "$target: no $pattern" >&2; return 1; }
}

for target in aarch64-linux-android26 armv7a-linux-androideabi26 x86_64-linux-android26; do
  # shellcheck disable=SC2086
  printf '#include <%s>\n' pthread.h sys/mman.h atomic string |
    "$CLANG" --target="$target" $flags -fsyntax-only -x c++ - || {
    echo "$target: this system's headers cannot stand in for its own: skipped"
    exit 77
  }
  compile $target map_file runtime/core runtime/platform runtime/data runtime/kernel runtime/backend runtime/threadpool
  compile $target Method7execute runtime/program runtime/executor
  compile $target vitrine_module_call api
done
