# Extracts the programs of the README and of docs/installing.md, lowers the model of `make demo`, and stores
# the class that executor_runner computes.
. "$(dirname "$0")/common.sh"
rm -rf "$readme" && mkdir -p "$readme" && cd "$readme"

# extract <language> <file> <document>: writes the only code block of that language in the document to the file.
extract() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$SOURCE/$3" | grep -v '^```' > "$2"
  [[ -s $2 ]] || fail "$3 has no code block in $1"
}
extract cpp classify.cc README.md
extract c classify.c docs/installing.md
extract python classify.py README.md

"$BUILD/bin/vitrine_example_lower_a_model" mobilenet_v2 model.pte > /dev/null
for ((i = 0; i < 3 * 224 * 224; ++i)); do printf '\x00\x00\x00\x3f'; done > half.bin  # 0.5
"$BUILD/bin/executor_runner" model.pte --inputs half.bin --output_file logits > /dev/null
od -A n -v -t f4 -w4 logits-0.bin | awk 'NR == 1 || $1 > best { best = $1; at = NR - 1 } END { print at }' > class
[[ $(od -A n -v -t f4 -w4 logits-0.bin | wc -l) == 1000 ]] || fail "the model does not return 1000 logits"
