# Builds the consumer with FetchContent, from a repository whose only commit is the current source tree.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/fetched" "$OUT/origin.git"
repository() {
  git --git-dir="$OUT/origin.git" --work-tree="$SOURCE" -c user.name=test -c user.email=test@localhost "$@"
}
repository init -q
repository add :/
repository commit -qm "This tree"
build_consumer "$OUT/fetched" -DFROM=repository -DREPOSITORY="file://$OUT/origin.git" \
  -DCOMMIT="$(repository rev-parse HEAD)" "${small[@]}"
