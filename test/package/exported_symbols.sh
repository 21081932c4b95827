# libvitrine.so exports what exported_symbols.txt lists: C, then C++. To change the list on purpose,
# write what this prints into it.
. "$(dirname "$0")/common.sh"
# Weak symbols, inline functions that the compiler did not inline, differ between builds: they need
# only be those of the classes that api/exports.map names.
nm_lines() { "$NM" -DC --defined-only "$BUILD/api/libvitrine.so"; }
nm_lines | awk '$2 !~ /[WVu]/' | cut -d ' ' -f 3- | LC_ALL=C sort -u > "$OUT/exported_symbols.txt"
diff "$SOURCE/test/package/exported_symbols.txt" "$OUT/exported_symbols.txt" || fail "the exported symbols changed"
if nm_lines | awk '$2 ~ /[WVu]/' | cut -d ' ' -f 3- |
  grep -vE '^vitrine::(Array|CallProfile|EValue|Error|MethodMeta|Module|Program|Tensor|ValueTracer)::'; then
  fail "other inline functions are exported"
fi
