# As a subfolder. This configures; what the subfolder builds is what the fetched one does.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/subdirectory"
"$CMAKE" -S "$SOURCE/test/package/consumer" -B "$OUT/subdirectory" -G Ninja -DREADME="$readme" \
  -DFROM=subdirectory -DVITRINE_SOURCE="$SOURCE" -DVITRINE_DEPS_DIR="$DEPS"
