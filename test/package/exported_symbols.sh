# Checks that libvitrine.so exports exactly the symbols in exported_symbols.txt. To change the list on
# purpose, copy the symbols that this test prints into it.
. "$(dirname "$0")/common.sh"
# Weak symbols are inline functions that the compiler did not inline. They differ between builds, so they
# only have to belong to the classes that api/exports.map names.
nm_lines() { "$NM" -DC --defined-only "$BUILD/api/libvitrine.so"; }
nm_lines | awk '$2 !~ /[WVu]/' | cut -d ' ' -f 3- | LC_ALL=C sort -u > "$OUT/exported_symbols.txt"
diff "$SOURCE/test/package/exported_symbols.txt" "$OUT/exported_symbols.txt" || fail "the exported symbols changed"
if nm_lines | awk '$2 ~ /[WVu]/' | cut -d ' ' -f 3- |
  grep -vE '^vitrine::(Array|CallProfile|EValue|Error|MethodMeta|Module|Program|Tensor|ValueTracer)::'; then
  fail "inline functions of other classes are exported"
fi
