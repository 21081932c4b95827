#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "test/aot/passes/cache_update.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Functionalize, ViewsSeeLaterWrites) {
  const std::vector<TensorData> x = {floats({2, 2}, {1, 2, 3, 4})};
  const auto found = run(x, [](ModelBuilder& build, const std::vector<Node*>& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    Node* row = build.call("aten.select.int", {copy, 0, 0});
    Node* before = build.call("aten.mul.Tensor", {row, 1});  // does not share memory
    build.call("aten.add_.Tensor", {copy, 10});
    return build.call("aten.add.Tensor", {row, before});
  });
  expect_near(found[0], {12, 14});
}

TEST(Functionalize, KeepsDtypeOfWrittenTensor) {
  const TensorData x = make_tensor_data(ScalarType::kInt, {2}, std::vector<std::byte>(8));
  const TensorData y = integers({2}, {5, 7});
  const auto found = run({x, y}, [](ModelBuilder& build, const std::vector<Node*>& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    const TensorSpec spec = contiguous_spec(ScalarType::kInt, {2});
    build.call_as("aten.add_.Tensor", {copy, in[1]}, {}, spec);
    return build.call_as("aten.mul.Tensor", {copy, 3}, {}, spec);
  });
  EXPECT_EQ(found[0].dtype, ScalarType::kInt);
  EXPECT_EQ(values_of(found[0]), (Values{15, 21}));
  // An in-place comparison writes its result as numbers, not as bools.
  EXPECT_EQ(written({floats({3}, {1, -1, 0})},
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>&) {
                      build.call_as("aten.gt_.Scalar", {copy, 0}, {}, *copy->tensor());
                    }),
            (Values{1, 0, 0}));
}

TEST(Functionalize, SupportsIndexedWrites) {
  const std::vector<TensorData> inputs = {floats({3, 2}, {1, 2, 3, 4, 5, 6}), integers({2}, {2, 0}),
                                          floats({2, 2}, {10, 20, 30, 40})};
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      build.call("aten.index_copy_.default", {copy, 0, in[1], in[2]});
                    }),
            (Values{30, 40, 3, 4, 10, 20}));
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      Node* row = build.call("aten.narrow.default", {copy, 0, 0, 3});
                      build.call("aten.index_add_.default", {row, 0, in[1], in[2]});
                    }),
            (Values{31, 42, 3, 4, 15, 26}));
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      build.call("aten.index_fill_.int_Scalar", {copy, 0, in[1], 0.0});
                    }),
            (Values{0, 0, 3, 4, 0, 0}));
}

TEST(Functionalize, RejectsWrittenArgumentsThatShareMemory) {
  const auto lower = [] {
    run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
      Node* cache = build.call("aten.clone.default", {in[0]});
      return build.call_as("llama.sdpa_with_kv_cache.default",
                           {in[1], in[1], in[1], cache, cache, 0, 1}, {}, *in[1]->tensor());
    });
  };
  EXPECT_THAT(lower, ThrowsMessage<AotError>(HasSubstr("two arguments that share memory")));
}

// Adds 10 in place to the result of `make`. Returns the elements of the operand of `make` after
// this write.
Values operand_after_write(const TensorData& operand, const Build& make) {
  return written({operand}, [&](ModelBuilder& build, Node* copy, const Nodes&) {
    build.call("aten.add_.Tensor", {make(build, {copy}), 10});
  });
}

Build as(const char* target, ArgumentList rest, TensorSpec result, ArgumentMap kwargs = {}) {
  return [=](ModelBuilder& build, const Nodes& in) {
    ArgumentList args = {in[0]};
    args.insert(args.end(), rest.begin(), rest.end());
    return build.call_as(target, std::move(args), kwargs, result);
  };
}

// Calls an operator that returns values and indices. Uses only the values.
Build values_from(const char* target, ArgumentList rest) {
  return [=](ModelBuilder& build, const Nodes& in) {
    ArgumentList args = {in[0]};
    args.insert(args.end(), rest.begin(), rest.end());
    const TensorSpec& spec = *in[0]->tensor();
    TensorSpec indices = spec;
    indices.dtype = ScalarType::kLong;
    return build.item(build.call_as(target, std::move(args), {}, Value::Items{spec, indices}), 0);
  };
}

// In PyTorch, these operators return new tensors. Their decompositions alone would return the
// operand or a view of it.
TEST(Functionalize, ResultsOfOperatorsThatCopyOwnTheirMemory) {
  const auto expect_unchanged = [](const TensorData& operand, const Build& make) {
    EXPECT_EQ(operand_after_write(operand, make), values_of(operand));
  };
  const TensorData x = floats({2, 2}, {1, 2, 3, 4});
  const TensorSpec same = contiguous_spec(ScalarType::kFloat, {2, 2});
  const ArgumentMap copy = {{"copy", true}};
  expect_unchanged(x, as("aten.to.dtype", {ScalarType::kFloat, false, true}, same));
  expect_unchanged(x, as("aten.to.device", {Device(), ScalarType::kFloat}, same, copy));
  // The operand of chain_matmul is a list.
  expect_unchanged(x, [&](ModelBuilder& build, const Nodes& in) {
    return build.call_as("aten.chain_matmul.default", {Argument::list({in[0]})}, {}, same);
  });
  expect_unchanged(x, as("aten.diag.default", {}, contiguous_spec(ScalarType::kFloat, {2})));
  expect_unchanged(x, as("aten.diag.default", {1}, contiguous_spec(ScalarType::kFloat, {1})));
  expect_unchanged(integers({2}, {1, 2}),
                   as("aten.nan_to_num.default", {}, contiguous_spec(ScalarType::kLong, {2})));
  const TensorData column = floats({2, 1}, {1, 2});
  expect_unchanged(
      column, as("aten.logcumsumexp.default", {1}, contiguous_spec(ScalarType::kFloat, {2, 1})));
  expect_unchanged(column, values_from("aten.cummax.default", {1}));
  expect_unchanged(column, values_from("aten.cummin.default", {1}));
}

// In PyTorch, these operators return the operand or a view of it, although their signatures declare
// a new tensor.
TEST(Functionalize, ResultsThatAliasInPyTorchShareMemory) {
  const TensorData x = floats({2, 2}, {1, 2, 3, 4});
  const TensorSpec same = contiguous_spec(ScalarType::kFloat, {2, 2});
  const Values both = {11, 12, 13, 14};
  EXPECT_EQ(operand_after_write(x, as("aten.dropout.default", {0.5, false}, same)), both);
  EXPECT_EQ(operand_after_write(x, as("aten.atleast_1d.default", {}, same)), both);
  EXPECT_EQ(operand_after_write(x, as("aten.to.dtype", {ScalarType::kFloat}, same)), both);
}

}  // namespace
}  // namespace vitrine::aot
