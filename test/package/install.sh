# Installs this build; nothing of it names the source or build folder.
. "$(dirname "$0")/common.sh"
rm -rf "$prefix"
"$CMAKE" --install "$BUILD" --prefix "$prefix" --strip > "$OUT/install.log"
for tool in executor_runner pte_inspect pte_lower vitrine_run; do
  "$prefix/bin/$tool" --help > /dev/null || fail "$tool --help"
done
if grep -rlE "$SOURCE|$BUILD|$DEPS" "$prefix/$LIBDIR/cmake" "$prefix/$LIBDIR/pkgconfig"; then
  fail "these files name folders of the build"
fi
