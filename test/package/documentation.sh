# Checks that the links in the documents, in the installed tree and in the source tree, lead to files.
. "$(dirname "$0")/common.sh"
for folder in "$prefix/share/doc" "$SOURCE/docs"; do
  "$PYTHON3" "$SOURCE/test/package/documentation.py" "$folder" || fail "a document has broken links"
done
