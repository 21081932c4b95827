# By FetchContent, from this repository.
. "$(dirname "$0")/common.sh"
if ! commit=$(git -C "$SOURCE" rev-parse HEAD 2>/dev/null); then
  echo "the source tree is no repository: nothing to fetch"
  exit 0
fi
rm -rf "$OUT/fetched" "$OUT/origin.git"
git clone -q --bare "$SOURCE" "$OUT/origin.git"
"$CMAKE" -S "$SOURCE/test/package/fetch" -B "$OUT/fetched" -G Ninja -DVITRINE_DEPS_DIR="$DEPS" \
  -DREPOSITORY="file://$OUT/origin.git" -DCOMMIT="$commit"
