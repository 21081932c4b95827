#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeReductions, AtenAllReducesOneDimOrTheEntireTensor) {
  const std::vector<TensorData> x = {floats({2, 2}, {1, 0, 2, 3})};
  expect_near(run(x, one("aten.all.dim", {1}))[0], {0, 1});
  expect_near(run(x, one("aten.all.default"))[0], {0});
}

TEST(DecomposeReductions, ComputesMediansKthValuesAndNanIgnoringReductions) {
  const TensorData x = floats({2, 3}, {1, kNan, 3, 0, 5, kNan});
  const std::vector<int64_t> rows = {1};
  expect_near(lowered("aten.nansum.default", {x}, ArgumentList{rows}, {2}), {4, 5});
  expect_near(lowered("aten.nanmean.default", {x}, ArgumentList{rows}, {2}), {2, 2.5});
  expect_near(lowered("aten.count_nonzero.dim_IntList", {x}, ArgumentList{rows}, {2}, {},
                      ScalarType::kLong),
              {3, 2});
  const Value::Items both = {contiguous_spec(ScalarType::kFloat, {2}),
                             contiguous_spec(ScalarType::kLong, {2})};
  const TensorData y = floats({2, 4}, {4, 1, 3, 2, 8, 7, kNan, 5});
  const auto along = [](const std::vector<Node*>& in) { return ArgumentList{in[0], 1}; };
  expect_near(lowered_item("aten.median.dim", {y}, along, both, 0), {2, kNan});
  expect_near(lowered("aten.median.default", {floats({5}, {4, 1, 9, 2, 8})}, ArgumentList{}, {}),
              {4});
  const auto third = [](const std::vector<Node*>& in) { return ArgumentList{in[0], 3}; };
  expect_near(lowered_item("aten.kthvalue.default", {y}, third, both, 0), {3, 8});
  expect_near(lowered_item("aten.kthvalue.default", {y}, third, both, 1), {2, 0});
  // A tensor of rank 0 counts as a row of one element.
  const Value::Items numbers = {contiguous_spec(ScalarType::kFloat, {}),
                                contiguous_spec(ScalarType::kLong, {})};
  const auto first = [](const std::vector<Node*>& in) { return ArgumentList{in[0], 1, 0}; };
  expect_near(lowered_item("aten.kthvalue.default", {floats({}, {7})}, first, numbers, 0), {7});
  expect_near(lowered_item("aten.kthvalue.default", {floats({}, {7})}, first, numbers, 1), {0});
}

// A quantile is the element at index q (n - 1) of the sorted row. The first row is [1, 2, 4, 8]
// when sorted, and the second row contains NaN.
TEST(DecomposeReductions, QuantilesInterpolateAndPropagateNan) {
  const TensorData x = floats({2, 4}, {4, 1, 8, 2, 8, 7, kNan, 5});
  const auto row_quantiles = [&](Argument q, const char* interpolation) {
    return lowered("aten.quantile.scalar", {x}, ArgumentList{std::move(q), 1}, {2},
                   {{"interpolation", interpolation}});
  };
  expect_near(row_quantiles(0.5, "linear"), {3, kNan});
  expect_near(row_quantiles(0.75, "linear"), {5, kNan});
  expect_near(row_quantiles(0.75, "lower"), {4, kNan});
  expect_near(row_quantiles(0.75, "higher"), {8, kNan});
  expect_near(row_quantiles(0.75, "nearest"), {4, kNan});
  expect_near(row_quantiles(0.75, "midpoint"), {6, kNan});
  expect_near(row_quantiles(1.0, "midpoint"), {8, kNan});
  // The first dim of the result has one element for each q. Without a dim, the quantiles are those
  // of the entire tensor.
  const TensorData y = floats({2, 3}, {1, 5, 2, 4, 3, 0});
  const TensorData q = floats({2}, {0.0, 0.5});
  expect_near(lowered("aten.quantile.default", {y, q}, ArgumentList{0, true}, {2, 1, 3}),
              {1, 3, 0, 2.5, 4, 1});
  expect_near(lowered("aten.quantile.default", {y, q}, ArgumentList{}, {2}), {0, 2.5});
  expect_near(lowered("aten.quantile.default", {y, q}, ArgumentList{Argument(), true}, {2, 1, 1}),
              {0, 2.5});
  EXPECT_THROW(row_quantiles(0.5, "cubic"), AotError);
}

TEST(DecomposeReductions, AtenAllReturnsUint8ForUint8Input) {
  const TensorData x = make_tensor_data(ScalarType::kByte, {2, 2},
                                        {std::byte{1}, std::byte{2}, std::byte{0}, std::byte{3}});
  const TensorData found = lowered("aten.all.dim", {x}, {1}, {2}, {}, ScalarType::kByte);
  EXPECT_EQ(found.dtype, ScalarType::kByte);
  EXPECT_EQ(values_of(found), (Values{1, 0}));
}

}  // namespace
}  // namespace vitrine::aot
