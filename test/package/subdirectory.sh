# As a subfolder, with the kernels of one operator: a small build.
. "$(dirname "$0")/common.sh"
build consumer "$OUT/subdirectory" -DFROM=subdirectory -DVITRINE_SOURCE="$SOURCE" -DVITRINE_SELECT_OPS=aten::add.out \
  -DVITRINE_DEPS_DIR="$DEPS" -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS=-O0
check_programs "$OUT/subdirectory"
