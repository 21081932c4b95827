# What the scripts of this folder share. The variables in capitals come from CMakeLists.txt.
set -euo pipefail
sample=$SOURCE/test/samples/mv2_025_xnnpack
prefix=$OUT/prefix
readme=$OUT/readme

fail() { echo "$0: $*" >&2; exit 1; }

# expect <text> <command>...: the command succeeds and prints the text.
expect() {
  local text=$1 printed
  shift
  printed=$("$@") || fail "$* failed"
  [[ $printed == *"$text"* ]] || fail "$* prints \"$printed\", not \"$text\""
  echo "$printed"
}

# expect_failure <text> <command>...: the command fails and says the text.
expect_failure() {
  local text=$1 printed
  shift
  if printed=$("$@" 2>&1); then fail "$* succeeds"; fi
  # CMake wraps its messages.
  [[ $(echo "$printed" | tr -s ' \n' ' ') == *"$text"* ]] || fail "$* says \"$printed\", not \"$text\""
}

if command -v ccache > /dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

# build <folder below this one> <build folder> <option>...
build() {
  local source=$1 binary=$2
  shift 2
  rm -rf "$binary"
  "$CMAKE" -S "$SOURCE/test/package/$source" -B "$binary" -G Ninja -DREADME="$readme" "$@"
  "$CMAKE" --build "$binary"
}

# build_consumer <build folder> <option>...: with the static library, then with the shared one.
build_consumer() {
  local binary=$1
  build consumer "$@"
  check_programs "$binary"
  if ldd "$binary/compare" | grep libvitrine; then fail "$binary/compare is not static"; fi
  "$CMAKE" "$binary" -DBUILD_SHARED_LIBS=ON
  "$CMAKE" --build "$binary"
  check_programs "$binary"
  expect "libvitrine.so" ldd "$binary/compare"
}

# What makes Vitrine as a part of another project a small build: the kernels of one sample, one instruction set.
small=(-DVITRINE_SELECT_OPS="aten::add.out;aten::mul.out" "-DVITRINE_DISABLED_SIMD_TARGETS=HWY_SSSE3|HWY_SSE4|HWY_AVX2|HWY_AVX3"
  -DVITRINE_DEPS_DIR="$DEPS" -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS=-O0)

# The class that the programs of the README find, by the runner: the position of the largest logit.
demo_class() { cat "$OUT/readme/class"; }

# check_programs <build folder>: all programs of `consumer` run and are right.
check_programs() {
  expect "100 outputs are PyTorch's" "$1/compare" "$sample"
  expect "2 values, f32[3,2]" "$1/declared" "$SOURCE/test/samples/add_mul/model.pte"
  (cd "$readme" && expect "class $(demo_class)" "$1/classify" && expect "class $(demo_class)" "$1/classify_c")
}
