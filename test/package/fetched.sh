# Builds one program of the consumer with FetchContent, from a repository whose only commit is the current source tree.
# FetchContent adds the tree as a subdirectory, and the test package_subdirectory builds the other programs that way.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/fetched" "$OUT/origin.git"
repository() {
  git --git-dir="$OUT/origin.git" --work-tree="$SOURCE" -c user.name=test -c user.email=test@localhost "$@"
}
repository init -q
repository add :/
repository commit -qm "This tree"
configure_project consumer "$OUT/fetched" -DFROM=repository -DREPOSITORY="file://$OUT/origin.git" \
  -DCOMMIT="$(repository rev-parse HEAD)" "${small[@]}"
"$CMAKE" --build "$OUT/fetched" --target declared
check_declared "$OUT/fetched"
