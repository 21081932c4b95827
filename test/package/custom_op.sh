# Builds the example of custom operators with the installed package, and loads its library into installed tools.
. "$(dirname "$0")/common.sh"
model=$SOURCE/test/samples/add_mul/model.pte
# The folder may have another name.
rm -rf "$OUT/my_copy" && cp -r "$SOURCE/examples/custom_op" "$OUT/my_copy"
"$CMAKE" -S "$OUT/my_copy" -B "$OUT/my_copy/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_UNITY_BUILD=ON
"$CMAKE" --build "$OUT/my_copy/build"
library=$OUT/my_copy/build/libmy_ops.so
exported=$("$NM" -D --defined-only "$library" | awk '$2 == "T" {print $3}')
[[ $exported == vitrine_extension ]] || fail "libmy_ops.so exports $exported"
expect "output 0: f32[2,3]" "$prefix/bin/executor_runner" "$model" --load "$library"
expect_failure "cannot load the library" "$prefix/bin/executor_runner" "$model" --load "$model"
