# libvitrine.so exports what exported_symbols.txt lists: C, then C++. To change the list on purpose,
# write what this prints into it.
. "$(dirname "$0")/common.sh"
"$NM" -DC --defined-only "$BUILD/api/libvitrine.so" | cut -d ' ' -f 3- | LC_ALL=C sort -u > "$OUT/exported_symbols.txt"
diff "$SOURCE/test/package/exported_symbols.txt" "$OUT/exported_symbols.txt" || fail "the exported symbols changed"
