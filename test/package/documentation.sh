# Links of the installed documents lead to files; the tree's do, too.
. "$(dirname "$0")/common.sh"
for folder in "$prefix/share/doc" "$SOURCE/docs"; do
  "$PYTHON3" "$SOURCE/test/package/documentation.py" "$folder" || fail "a document has broken links"
done
