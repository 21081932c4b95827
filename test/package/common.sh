# Functions and variables for the scripts in this folder. CMakeLists.txt sets the variables in capitals.
set -euo pipefail
sample=$SOURCE/test/samples/mv2_025_xnnpack
prefix=$OUT/prefix
readme=$OUT/readme

fail() { echo "$0: $*" >&2; exit 1; }

# expect <text> <command>...: expects that the command succeeds and prints the text.
expect() {
  local text=$1 printed
  shift
  printed=$("$@") || fail "$* failed"
  [[ $printed == *"$text"* ]] || fail "expected \"$text\" from $*, got \"$printed\""
  echo "$printed"
}

# expect_failure <text> <command>...: the command fails and prints the text.
expect_failure() {
  local text=$1 printed
  shift
  if printed=$("$@" 2>&1); then fail "expected $* to fail, but it succeeded"; fi
  # CMake wraps its messages.
  [[ $(echo "$printed" | tr -s ' \n' ' ') == *"$text"* ]] || fail "expected \"$text\" from $*, got \"$printed\""
}

if command -v ccache > /dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

# configure_project <subfolder> <build folder> <option>...: configures the project in the subfolder.
configure_project() {
  local source=$1 binary=$2
  shift 2
  rm -rf "$binary"
  "$CMAKE" -S "$SOURCE/test/package/$source" -B "$binary" -G Ninja -DREADME="$readme" "$@"
}

# build <subfolder> <build folder> <option>...: configures and builds the project in the subfolder.
build() {
  configure_project "$@"
  "$CMAKE" --build "$2"
}

# build_consumer <build folder> <option>...: builds and checks the project `consumer` with the static
# library, then with the shared one.
build_consumer() {
  local binary=$1
  build consumer "$@"
  check_programs "$binary"
  if ldd "$binary/compare" | grep libvitrine; then fail "$binary/compare must not depend on libvitrine.so"; fi
  "$CMAKE" "$binary" -DBUILD_SHARED_LIBS=ON
  "$CMAKE" --build "$binary"
  check_programs "$binary"
  expect "libvitrine.so" ldd "$binary/compare"
}

# Options for a small build of Vitrine inside another project: the kernels of one sample, one instruction set.
small=(-DVITRINE_SELECT_OPS="aten::add.out;aten::mul.out" "-DVITRINE_DISABLED_SIMD_TARGETS=HWY_SSSE3|HWY_SSE4|HWY_AVX2|HWY_AVX3"
  -DVITRINE_DEPS_DIR="$DEPS" -DVITRINE_XNNPACK_PIN="$PIN" -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS=-O0)

# Prints the class that the programs of the README must find: the index of the largest logit that
# executor_runner computes (readme_programs.sh).
demo_class() { cat "$OUT/readme/class"; }

# check_declared <build folder>: the program `declared` of `consumer` runs and prints the expected values.
check_declared() { expect "2 values, f32[3,2]" "$1/declared" "$SOURCE/test/samples/add_mul/model.pte"; }

# check_programs <build folder>: all programs of `consumer` run and print the expected results.
check_programs() {
  expect "100 outputs match PyTorch" "$1/compare" "$sample"
  check_declared "$1"
  (cd "$readme" && expect "class $(demo_class)" "$1/classify" && expect "class $(demo_class)" "$1/classify_c")
}
