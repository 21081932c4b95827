# Checks that two builds in different folders produce the same bytes.
. "$(dirname "$0")/common.sh"
export CCACHE_DISABLE=1 SOURCE_DATE_EPOCH=1700000000
for copy in one two; do
  root=$OUT/reproducible/$copy
  rm -rf "$root" && mkdir -p "$root"
  (cd "$SOURCE" && cp -r CMakeLists.txt CMakePresets.json LICENSE ./*.md api backends cmake include kernels runtime \
    schema tools "$root")
  "$CMAKE" -S "$root" -B "$root/out-$copy" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=-ffile-prefix-map=$root=." \
    -DVITRINE_DEPS_DIR="$DEPS" -DVITRINE_XNNPACK_PIN="$PIN" -DVITRINE_BUILD_HOST=OFF -DVITRINE_BUILD_SHARED=OFF -DCMAKE_UNITY_BUILD=ON > "$root/log"
  "$CMAKE" --build "$root/out-$copy" --target vitrine_executor >> "$root/log"
  (cd "$root/out-$copy" && find . -name '*.a' -exec sha256sum {} + | LC_ALL=C sort -k 2) > "$OUT/reproducible/$copy.sums"
done
[ "$(wc -l < "$OUT/reproducible/one.sums")" -ge 4 ] || fail "fewer than 4 libraries were built"
diff "$OUT/reproducible/one.sums" "$OUT/reproducible/two.sums" || fail "two builds differ"
