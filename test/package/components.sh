. "$(dirname "$0")/common.sh"
build components "$OUT/components" -DCMAKE_PREFIX_PATH="$prefix"
expect "1 delegate" "$OUT/components/lower_and_run" "$SOURCE/test/samples/linear_relu/model.pt2" "$OUT/components/model.pte"
