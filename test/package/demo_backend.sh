# Builds the example of a backend against the installed package. Checks that the tools contain it and the libraries do
# not.
. "$(dirname "$0")/common.sh"
model=$SOURCE/test/samples/conv_relu_tan/model.pt2
build ../../examples/demo_backend "$OUT/demo_backend" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_UNITY_BUILD=ON
expect "5 operators" "$OUT/demo_backend/vitrine_example_demo_backend" "$model"

"$prefix/bin/pte_lower" "$model" --backend demo -o "$OUT/demo_backend/model.pte"
expect "demo 0" "$prefix/bin/executor_runner" "$OUT/demo_backend/model.pte" --profile
if grep -rl BackendWithDelegateMappingDemo "$prefix/$LIBDIR" "$BUILD"/python/vitrine/*.so; then fail "these libraries contain the example"; fi
