# Builds the example of custom operators with the installed package, and loads its library into installed tools.
. "$(dirname "$0")/common.sh"
model=$SOURCE/test/samples/add_mul/model.pte
build ../../examples/custom_op "$OUT/custom_op" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_UNITY_BUILD=ON
library=$OUT/custom_op/libmy_ops.so
exported=$("$NM" -D --defined-only "$library" | awk '$2 == "T" {print $3}')
[[ $exported == vitrine_extension ]] || fail "libmy_ops.so exports $exported"
expect "output 0: f32[2,3]" "$prefix/bin/executor_runner" "$model" --load "$library"
expect_failure "cannot load the library" "$prefix/bin/executor_runner" "$model" --load "$model"
