# By FetchContent, from a repository whose only commit is this tree as it is; with the kernels of two operators: a
# small build.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/fetched" "$OUT/origin.git"
repository() {
  git --git-dir="$OUT/origin.git" --work-tree="$SOURCE" -c user.name=test -c user.email=test@localhost "$@"
}
repository init -q
repository add :/
repository commit -qm "This tree"
build consumer "$OUT/fetched" -DFROM=repository -DREPOSITORY="file://$OUT/origin.git" \
  -DCOMMIT="$(repository rev-parse HEAD)" -DVITRINE_SELECT_OPS="aten::add.out;aten::mul.out" \
  -DVITRINE_DEPS_DIR="$DEPS" -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS=-O0
check_programs "$OUT/fetched"
