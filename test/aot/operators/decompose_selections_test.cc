// Decompositions of selections and reductions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "aot/graph/aot_error.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeSelections, IndexAddIndexCopyAndIndexFillWriteAtIndices) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorData index = integers({2}, {2, 0});
  const TensorData repeated = integers({2}, {1, 1});
  const TensorData source = floats({2, 2}, {10, 20, 30, 40});
  const ArgumentList by_columns = {"$", 1, "$", "$"};
  expect_call("aten.index_add.default", {x, index, source}, by_columns, {2, 3},
              {21, 2, 13, 44, 5, 36});
  expect_call("aten.index_add.default", {x, repeated, source}, by_columns, {2, 3},
              {1, 62, 3, 4, 145, 6}, {{"alpha", 2}});
  expect_call("aten.index_copy.default", {x, index, source}, by_columns, {2, 3},
              {20, 2, 10, 40, 5, 30});
  expect_call("aten.index_fill.int_Scalar", {x, integers({1}, {1})}, {"$", -2, "$", 7.0}, {2, 3},
              {1, 2, 3, 7, 7, 7});
}

TEST(DecomposeSelections, TakeAndPutAccessElementsByIndex) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_call("aten.take.default", {x, integers({2, 2}, {5, 0, -1, 3})}, {}, {2, 2}, {6, 1, 6, 4});
  expect_call("aten.put.default", {x, integers({2}, {4, 4}), floats({2}, {1, 2})}, {true}, {2, 3},
              {1, 2, 3, 4, 8, 6});
  expect_call("aten.take_along_dim.default", {x, integers({2, 1}, {2, 0})}, {1}, {2, 1}, {3, 4});
  // The index has only one row, which applies to all rows of `x`.
  expect_call("aten.take_along_dim.default", {x, integers({1, 2}, {2, 0})}, {1}, {2, 2},
              {3, 1, 6, 4});
}

TEST(DecomposeSelections, ScatterReduceCanExcludeTheOriginalElement) {
  const TensorData x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TensorData index = integers({4, 2}, {0, 0, 2, 0, 0, 2, 2, 2});
  const Values values = {7, -1, 2, 8, -3, 4, 9, 1};
  const std::vector<int64_t> rows = {0, 0, 2, 0, 0, 2, 2, 2};
  for (const std::string reduce : {"sum", "mean", "prod", "amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      SCOPED_TRACE(reduce + (include_self ? " with the original" : " without the original"));
      Values expected = {1, 2, 3, 4, 5, 6};
      for (size_t at = 0; at < 6; ++at) {
        Values found;
        if (include_self) found.push_back(expected[at]);
        for (size_t i = 0; i < values.size(); ++i) {
          if (rows[i] == static_cast<int64_t>(at / 2) && i % 2 == at % 2)
            found.push_back(values[i]);
        }
        if (found.empty()) continue;
        double sum = 0;
        double product = 1;
        for (const double each : found) {
          sum += each;
          product *= each;
        }
        expected[at] = reduce == "sum"    ? sum
                       : reduce == "mean" ? sum / static_cast<double>(found.size())
                       : reduce == "prod" ? product
                       : reduce == "amax" ? *std::ranges::max_element(found)
                                          : *std::ranges::min_element(found);
      }
      expect_call("aten.scatter_reduce.two", {x, index, floats({4, 2}, values)},
                  {"$", 0, "$", "$", reduce}, {3, 2}, expected, {{"include_self", include_self}});
    }
  }
  expect_call("aten.scatter.value_reduce", {x, index}, {"$", 0, "$", 2}, {3, 2},
              {5, 6, 3, 4, 9, 10}, {{"reduce", "add"}});
  expect_call("aten.scatter.value_reduce", {x, index}, {"$", 0, "$", 2}, {3, 2},
              {4, 8, 3, 4, 20, 24}, {{"reduce", "multiply"}});
}

TEST(DecomposeSelections, BucketizeFindsBucketsAndIsinFindsMembers) {
  const TensorData bounds = floats({4}, {1, 3, 3, 7});
  const TensorData x = floats({2, 3}, {0, 1, 3, 5, 7, 9});
  expect_call("aten.bucketize.Tensor", {x, bounds}, {}, {2, 3}, {0, 0, 1, 3, 3, 4},
              {{"right", false}}, ScalarType::kLong);
  expect_call("aten.bucketize.Tensor", {x, bounds}, {}, {2, 3}, {0, 1, 3, 3, 4, 4},
              {{"right", true}}, ScalarType::kLong);
  expect_call("aten.searchsorted.Tensor",
              {floats({2, 2}, {1, 2, 10, 20}), floats({2, 3}, {0, 2, 3, 10, 15, 30})}, {}, {2, 3},
              {0, 2, 2, 1, 1, 2}, {{"side", "right"}}, ScalarType::kLong);
  expect_call("aten.bucketize.Scalar", {bounds}, {3, "$"}, {}, {3}, {{"right", true}},
              ScalarType::kLong);
  expect_call("aten.searchsorted.Scalar", {bounds}, {2.5}, {}, {1}, {}, ScalarType::kLong);
  // The argument `sorter` is the permutation that sorts the sequence.
  expect_call("aten.searchsorted.Tensor",
              {floats({3}, {20, 5, 10}), floats({4}, {1, 5, 7, 30}), integers({3}, {1, 2, 0})},
              {"$", "$", false, false, Argument(), "$"}, {4}, {0, 0, 1, 3}, {}, ScalarType::kLong);
  const TensorData numbers = integers({2, 2}, {1, 2, 3, 4});
  expect_call("aten.isin.Tensor_Tensor", {numbers, integers({3}, {4, 1, 9})}, {}, {2, 2},
              {1, 0, 0, 1}, {}, ScalarType::kBool);
  expect_call("aten.isin.Tensor_Scalar", {numbers}, {2}, {2, 2}, {1, 0, 1, 1}, {{"invert", true}},
              ScalarType::kBool);
}

TEST(DecomposeSelections, EmbeddingBagAddsUpOrAveragesRows) {
  const TensorData table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TensorData indices = integers({5}, {0, 2, 1, 1, 0});
  const TensorData offsets = integers({3}, {0, 2, 2});  // the second bag is empty
  const Value::Items results = {
      contiguous_spec(ScalarType::kFloat, {3, 2}), contiguous_spec(ScalarType::kLong, {5}),
      contiguous_spec(ScalarType::kLong, {3}), contiguous_spec(ScalarType::kLong, {3})};
  const auto bags = [&](const char* target, int mode, const Argument& padding) {
    return lowered_item(target, {table, indices, offsets},
                        {"$", "$", "$", false, mode, false, Argument(), false, padding}, results,
                        0);
  };
  const char* bag = "aten.embedding_bag.padding_idx";
  expect_near(bags(bag, 0, Argument()), {6, 8, 0, 0, 7, 10});
  expect_near(bags(bag, 1, Argument()), {3, 4, 0, 0, 7.0 / 3, 10.0 / 3});
  expect_near(bags(bag, 1, Argument(1)), {3, 4, 0, 0, 1, 2});
  expect_near(bags(bag, 2, Argument()), {5, 6, 0, 0, 3, 4});
  expect_near(bags(bag, 2, Argument(1)), {5, 6, 0, 0, 1, 2});
  expect_near(bags(bag, 2, Argument(-2)), {5, 6, 0, 0, 1, 2});
  // In _embedding_bag_forward_only, a padding index of -1 means that no index is padding.
  for (const int mode : {0, 1, 2}) {
    expect_near(bags("aten._embedding_bag_forward_only.default", mode, -1),
                values_of(bags(bag, mode, Argument())));
  }
}

TEST(DecomposeSelections, RepeatInterleaveAcceptsATensorOfCounts) {
  const TensorData x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto repeated = [&](const TensorData& repeats, int64_t count, int64_t dim) {
    return lowered("aten.repeat_interleave.self_Tensor", {x, repeats}, {dim},
                   dim == 0 ? std::vector<SymInt>{count, 2} : std::vector<SymInt>{3, count});
  };
  expect_near(repeated(integers({3}, {2, 0, 1}), 3, 0), {1, 2, 1, 2, 5, 6});
  expect_near(repeated(integers({2}, {1, 2}), 3, 1), {1, 2, 2, 3, 4, 4, 5, 6, 6});
  expect_near(repeated(integers({1}, {2}), 6, 0), {1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6});
  expect_call("aten.repeat_interleave.self_Tensor", {x, integers({6}, {0, 1, 0, 2, 0, 0})}, {}, {3},
              {2, 4, 4});
  // If `repeats` is constant, the decomposition replaces it with constant indices.
  const Build constant = [](ModelBuilder& build, const Nodes& in) {
    Node* repeats = build.buffer("repeats", integers({3}, {2, 0, 1}));
    return build.call_as("aten.repeat_interleave.self_Tensor", {in[0], repeats, 0}, {},
                         contiguous_spec(ScalarType::kFloat, {3, 2}));
  };
  std::string operators;
  expect_near(run({x}, constant, &operators)[0], {1, 2, 1, 2, 5, 6});
  EXPECT_EQ(operators.find("repeat_interleave"), std::string::npos) << operators;
}

TEST(DecomposeSelections, ErrorNamesTheNodeAndItsSourceLine) {
  EXPECT_THAT(
      [] {
        lowered("aten.no_such_operator.default", {floats({2}, {1, 2})}, {}, {2});
      },
      testing::ThrowsMessage<AotError>(testing::AllOf(
          testing::HasSubstr("node no_such_operator (aten.no_such_operator.default), "),
          testing::HasSubstr("lowered_call.cc:"))));
}

TEST(DecomposeReductions, AtenAllReducesOneDimOrTheEntireTensor) {
  const std::vector<TensorData> x = {floats({2, 2}, {1, 0, 2, 3})};
  expect_one("aten.all.dim", x, {1}, {0, 1});
  expect_one("aten.all.default", x, {}, {0});
}

TEST(DecomposeReductions, ComputesMediansKthValuesAndNanIgnoringReductions) {
  const TensorData x = floats({2, 3}, {1, kNan, 3, 0, 5, kNan});
  const std::vector<int64_t> rows = {1};
  expect_call("aten.nansum.default", {x}, {rows}, {2}, {4, 5});
  expect_call("aten.nanmean.default", {x}, {rows}, {2}, {2, 2.5});
  expect_call("aten.count_nonzero.dim_IntList", {x}, {rows}, {2}, {3, 2}, {}, ScalarType::kLong);
  const TensorData y = floats({2, 4}, {4, 1, 3, 2, 8, 7, kNan, 5});
  const Value::Items both = values_and_indices({2});
  expect_near(lowered_item("aten.median.dim", {y}, {1}, both, 0), {2, kNan});
  expect_call("aten.median.default", {floats({5}, {4, 1, 9, 2, 8})}, {}, {}, {4});
  expect_near(lowered_item("aten.kthvalue.default", {y}, {3}, both, 0), {3, 8});
  expect_near(lowered_item("aten.kthvalue.default", {y}, {3}, both, 1), {2, 0});
  // A tensor of rank 0 counts as a row of one element.
  const TensorData seven = floats({}, {7});
  const Value::Items numbers = values_and_indices({});
  expect_near(lowered_item("aten.kthvalue.default", {seven}, {1, 0}, numbers, 0), {7});
  expect_near(lowered_item("aten.kthvalue.default", {seven}, {1, 0}, numbers, 1), {0});
}

// A quantile of n elements is the element at index q (n - 1) after sorting, interpolated if this
// index is not an integer. The first row is [1, 2, 4, 8] when sorted. The second row contains NaN.
TEST(DecomposeReductions, QuantilesInterpolateAndPropagateNan) {
  const TensorData x = floats({2, 4}, {4, 1, 8, 2, 8, 7, kNan, 5});
  const auto row_quantiles = [&](Argument q, const char* interpolation) {
    return lowered("aten.quantile.scalar", {x}, {std::move(q), 1}, {2},
                   {{"interpolation", interpolation}});
  };
  expect_near(row_quantiles(0.5, "linear"), {3, kNan});
  expect_near(row_quantiles(0.75, "linear"), {5, kNan});
  expect_near(row_quantiles(0.75, "lower"), {4, kNan});
  expect_near(row_quantiles(0.75, "higher"), {8, kNan});
  expect_near(row_quantiles(0.75, "nearest"), {4, kNan});
  expect_near(row_quantiles(0.75, "midpoint"), {6, kNan});
  expect_near(row_quantiles(1.0, "midpoint"), {8, kNan});
  // The first dim of the result has one element for each element of `q`. If the argument `dim` is
  // missing, the quantiles are those of the entire tensor.
  const TensorData y = floats({2, 3}, {1, 5, 2, 4, 3, 0});
  const TensorData q = floats({2}, {0.0, 0.5});
  expect_call("aten.quantile.default", {y, q}, {0, true}, {2, 1, 3}, {1, 3, 0, 2.5, 4, 1});
  expect_call("aten.quantile.default", {y, q}, {}, {2}, {0, 2.5});
  expect_call("aten.quantile.default", {y, q}, {Argument(), true}, {2, 1, 1}, {0, 2.5});
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
