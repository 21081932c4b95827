# Checks that the .tar.xz has the files of the installed tree, and that its tools run after unpacking.
. "$(dirname "$0")/common.sh"
rm -rf "$OUT/archive" && mkdir -p "$OUT/archive"
(cd "$BUILD" && "$(dirname "$CMAKE")/cpack" -G TXZ -B "$OUT/archive") > "$OUT/archive.log"
tar -xJf "$OUT"/archive/vitrine-*.tar.xz -C "$OUT/archive"
root=$(echo "$OUT"/archive/vitrine-*/)
"$root/bin/pte_inspect" "$sample/model.pte" > /dev/null
files() { (cd "$1" && find . | LC_ALL=C sort); }
diff <(files "$prefix") <(files "$root") || fail "the archive and the installed tree have different files"
