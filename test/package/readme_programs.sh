# The programs of the README, as they stand there; the model of `make demo`, and what the runner says.
. "$(dirname "$0")/common.sh"
rm -rf "$readme" && mkdir -p "$readme" && cd "$readme"

# extract <language> <file>: the one block of that language with a whole program.
extract() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$SOURCE/README.md" | grep -v '^```' > "$2"
  [[ -s $2 ]] || fail "README.md has no program in $1"
}
extract cpp classify.cc
extract c classify.c
extract python classify.py

"$BUILD/bin/vitrine_example_lower_a_model" mobilenet_v2 model.pte > /dev/null
for ((i = 0; i < 3 * 224 * 224; ++i)); do printf '\x00\x00\x00\x3f'; done > half.bin  # 0.5
"$BUILD/bin/executor_runner" model.pte --inputs half.bin --output_file logits > /dev/null
od -A n -v -t f4 -w4 logits-0.bin | awk 'NR == 1 || $1 > best { best = $1; at = NR - 1 } END { print at }' > class
[[ $(od -A n -v -t f4 -w4 logits-0.bin | wc -l) == 1000 ]] || fail "the model does not give 1000 logits"
