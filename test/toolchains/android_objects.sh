#!/bin/sh
# Compiles the runtime and the API to objects for Android targets with clang and strict warnings. It uses
# the headers of this system's libc and C++ library instead of a sysroot. So it tests the types,
# instruction sets and warnings of the targets, but not bionic, libc++ or linking.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$SOURCE"

# glibc's headers are for one processor. These replacements take the word size from the compiler.
mkdir -p "$scratch/include/gnu" "$scratch/include/bits" "$scratch/include/android"
: >"$scratch/include/gnu/stubs-32.h"
: >"$scratch/include/android/api-level.h"
cat >"$scratch/include/bits/wordsize.h" <<'END_OF_HEADER'
#define __WORDSIZE (8 * __SIZEOF_POINTER__)
#define __WORDSIZE_TIME64_COMPAT32 0
#define __SYSCALL_WORDSIZE 64
END_OF_HEADER

# Include paths of this system's compiler, without the compiler's own headers.
includes=$("$CLANG" -E -x c++ -v /dev/null 2>&1 >/dev/null |
  sed -n '/^#include <...>/,/^End/s/^ \(.*\)/-isystem \1/p' | grep -v '/lib/clang/\|/llvm')
libraries=$(echo "$XNNPACK_INCLUDES" | tr ':' '\n' | sed 's/^/-isystem /')
flags="-std=c++20 -fPIC -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow
  -Wnon-virtual-dtor -Wold-style-cast -Werror -D__regparm__(n)=__unused__ -nostdinc++ -nostdlibinc -isystem $scratch/include
  $includes $libraries -I . -I include -I $GENERATED -I $GENERATED/include"

# Compiles rooms as one file, whose object must define a symbol that matches PATTERN.
compile() {  # TARGET PATTERN ROOM...
  target=$1 pattern=$2 object=$scratch/$1$2
  shift 2
  for room in "$@"; do
    # Highway compiles its files once for each instruction set, so each of them needs its own object.
    for file in $(grep -L HWY_TARGET_INCLUDE "$room"/*.cc); do echo "#include \"$file\""; done
  done >"$object.cc"
  # shellcheck disable=SC2086
  "$CLANG" --target="$target" $flags -c "$object.cc" -o "$object.o"
  "$NM" --defined-only "$object.o" | grep -q "$pattern" || { echo "$target: the object does not define $pattern" >&2; return 1; }
}

for target in aarch64-linux-android26 armv7a-linux-androideabi26 x86_64-linux-android26; do
  # shellcheck disable=SC2086
  printf '#include <%s>\n' pthread.h sys/mman.h atomic string |
    "$CLANG" --target="$target" $flags -fsyntax-only -x c++ - || {
    echo "$target: skipped, since this system's headers do not compile for it"
    exit 77
  }
  # shellcheck disable=SC2086
  "$CLANG" --target="$target" $flags -c runtime/extension/element_figures.cc -o "$scratch/figures.o"
  compile $target map_file runtime/core runtime/platform runtime/extension runtime/threads
  compile $target Method7execute runtime/program runtime/executor
  compile $target vitrine_module_call api
done
