. "$(dirname "$0")/common.sh"
# The path of the selected program is relative to the folder of the CMakeLists.txt.
build components "$OUT/components" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_UNITY_BUILD=ON \
  -DSELECT=../../samples/add_mul/model.pte
expect "1 delegate" "$OUT/components/lower_and_run" "$SOURCE/test/samples/linear_relu/model.pt2" "$OUT/components/model.pte"
expect "2 operators" "$OUT/components/run_selected" "$SOURCE/test/samples/add_mul/model.pte"
expect_failure "aten::" "$OUT/components/run_selected" "$SOURCE/test/samples/digits_portable/model.pte"
expect_failure "there is no kernel for my_ops::first.out" "$CMAKE" "$OUT/components" -DSELECT=my_ops::first.out
expect_failure "absent.pte: no such file" "$CMAKE" "$OUT/components" -DSELECT=absent.pte
expect_failure "expected FROM <item>" "$CMAKE" "$OUT/components" -DSELECT=
