# Installs this build, and checks that no installed file names the source or build folder.
. "$(dirname "$0")/common.sh"
rm -rf "$prefix"
"$CMAKE" --install "$BUILD" --prefix "$prefix" --strip > "$OUT/install.log"
for tool in vitrine executor_runner llm_runner pte_inspect pte_lower vitrine_run; do
  "$prefix/bin/$tool" --help > /dev/null || fail "$tool --help failed"
  "$prefix/bin/$tool" --version | grep -q "^vitrine [0-9]" || fail "$tool --version prints no version"
done
# The old names are links to `vitrine`.
[[ $(readlink "$prefix/bin/executor_runner") == vitrine ]] || fail "executor_runner is not a link to vitrine"
"$prefix/bin/executor_runner" --profile "$SOURCE/test/samples/add_mul/model.pte" > /dev/null || fail "the link cannot profile"
if grep -rlE "$SOURCE|$BUILD|$DEPS" "$prefix/$LIBDIR/cmake" "$prefix/$LIBDIR/pkgconfig"; then
  fail "these installed files name the source or build folder"
fi
