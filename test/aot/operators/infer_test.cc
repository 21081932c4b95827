// Tests inference in cases that the corpus does not cover, such as symbolic sizes and errors.
#include "aot/operators/infer.h"

#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/graph.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using Sizes = std::vector<int64_t>;

SymInt symbol(const char* name) { return SymInt(Expression::symbol(name)); }

class InferTest : public testing::Test {
 protected:
  Node* input(std::vector<SymInt> sizes, ScalarType dtype = ScalarType::kFloat) {
    Node* node = graph_.placeholder("x");
    node->meta.value = contiguous_spec(dtype, std::move(sizes));
    return node;
  }
  std::string result(const char* target, ArgumentList args, ArgumentMap kwargs = {}) {
    return to_text(*infer(Target::of(target), args, kwargs).tensor());
  }
  void expect_error(const char* target, const ArgumentList& args, const char* text) {
    EXPECT_ERROR(AotError, infer(Target::of(target), args), text);
  }
  Graph graph_;
};

TEST_F(InferTest, KeepsSymbolsInSizes) {
  Node* x = input({symbol("s0"), 6, 8});
  EXPECT_EQ(result("aten.view.default", {x, Sizes{-1, 8}}), "f32[6*s0, 8]");
  EXPECT_EQ(result("aten.flatten.using_ints", {x, 1}), "f32[s0, 48]");
  EXPECT_EQ(result("aten.slice.Tensor", {x, 1, 1, 5}), "f32[s0, 4, 8]");
  EXPECT_EQ(result("aten.slice.Tensor", {x, 0, 0, INT64_MAX}), "f32[s0, 6, 8]");
  EXPECT_EQ(result("aten.cat.default", {Argument::list({x, x}), 1}), "f32[s0, 12, 8]");
  Node* folded = input({SymInt(6) * symbol("s0"), 8});
  EXPECT_EQ(result("aten.view.default", {folded, Sizes{-1, 6, 8}}), "f32[s0, 6, 8]");
}

// A skip connection adds x to the result of two convolutions, which halve and then double the last
// two sizes of x. The inferred sizes must therefore equal those of x.
TEST_F(InferTest, TransposedConvolutionsRestoreSymbolicSizes) {
  const SymInt even = SymInt(2) * symbol("s0");
  Node* x = input({1, 4, even, SymInt(16) + SymInt(8) * symbol("s6")});
  const auto pair = [](int64_t value) { return Sizes{value, value}; };
  const auto made = [&](const char* target, ArgumentList args) {
    const std::vector<SymInt> sizes = infer(Target::of(target), args, {}).tensor()->sizes;
    return input(sizes);
  };
  Node* weight = input({4, 4, 3, 3});
  Node* down = made("aten.convolution.default",
                    {x, weight, Argument(), pair(2), pair(1), pair(1), false, pair(0), 1});
  EXPECT_EQ(to_text(*down->tensor()), "f32[1, 4, s0, (4*s6) + 8]");
  Node* kernel = input({4, 4, 2, 2});
  Node* up = made("aten.convolution.default",
                  {down, kernel, Argument(), pair(2), pair(0), pair(1), true, pair(0), 1});
  EXPECT_EQ(result("aten.add.Tensor", {x, up}), "f32[1, 4, 2*s0, (8*s6) + 16]");
  EXPECT_EQ(result("aten.max_pool2d.default", {x, pair(2)}), "f32[1, 4, s0, (4*s6) + 8]");
  Node* upsampled = made("aten.pixel_shuffle.default", {down, 2});
  EXPECT_EQ(to_text(*upsampled->tensor()), "f32[1, 1, 2*s0, (8*s6) + 16]");
}

TEST_F(InferTest, InfersViewSizesFromSymbolicSums) {
  const SymInt rows = symbol("s0") + SymInt(1);
  Node* x = input({rows * symbol("s1"), 64});
  EXPECT_EQ(result("aten.view.default", {x, Sizes{-1, 128}}), "f32[((s0 + 1)*s1)//2, 128]");
  Node* tokens = input({2, rows, 12});
  EXPECT_EQ(result("aten.flatten.using_ints", {tokens, 0, 1}), "f32[(2*s0) + 2, 12]");
  EXPECT_EQ(result("aten.view.default", {tokens, Sizes{-1, 24}}), "f32[s0 + 1, 24]");
}

TEST_F(InferTest, NarrowWrapsNegativeStarts) {
  Node* x = input({symbol("s0"), 6});
  EXPECT_EQ(result("aten.narrow.default", {x, 1, -2, 2}), "f32[s0, 2]");
  EXPECT_EQ(result("aten.narrow.default", {x, 0, -1, 1}), "f32[1, 6]");
}

TEST_F(InferTest, InfersSizesOfWindowsAndResizedTensors) {
  Node* x = input({2, 3, 8, symbol("s0")});
  EXPECT_EQ(result("aten.avg_pool2d.default", {x, Sizes{2, 3}, Sizes{2, 3}}),
            "f32[2, 3, 4, s0//3]");
  EXPECT_EQ(result("aten.unfold.default", {x, 3, 4, 2}), "f32[2, 3, 8, (s0//2) + -1, 4]");
  EXPECT_EQ(result("aten.constant_pad_nd.default", {x, Sizes{1, 2}, 0.0}), "f32[2, 3, 8, s0 + 3]");
  EXPECT_EQ(result("aten.upsample_nearest2d.vec", {x, Argument(), Argument::list({2.0, 3.0})}),
            "f32[2, 3, 16, 3*s0]");
}

TEST_F(InferTest, InfersSizesOfReductionsAndSelections) {
  Node* x = input({symbol("s0"), 4, 5});
  Node* index = input({7}, ScalarType::kLong);
  EXPECT_EQ(result("aten.amax.default", {x, Sizes{-1}, true}), "f32[s0, 4, 1]");
  EXPECT_EQ(result("aten.mean.dim", {x, Sizes{0, 2}}), "f32[4]");
  EXPECT_EQ(result("aten.index_select.default", {x, 1, index}), "f32[s0, 7, 5]");
  EXPECT_EQ(result("aten.embedding.default", {input({10, 3}), index}), "f32[7, 3]");
  EXPECT_EQ(result("aten.select.int", {x, 1, -1}), "f32[s0, 5]");
  EXPECT_EQ(result("aten.repeat.default", {x, Sizes{2, 1, 1, 3}}), "f32[2, s0, 4, 15]");
  expect_error("aten.index_select.default", {x, 3, index}, "dim 3 is out of range");
}

TEST_F(InferTest, SumsOfIntegersAndBoolsAreI64) {
  const std::vector<int64_t> first = {0};
  for (const char* sum : {"aten.nansum.default", "aten.sum.dim_IntList"}) {
    SCOPED_TRACE(sum);
    Node* halves = input({3, 4}, ScalarType::kHalf);
    EXPECT_EQ(result(sum, {halves, Argument()}), "f16[]");
    EXPECT_EQ(result(sum, {halves, first, true}), "f16[1, 4]");
    Node* flags = input({3, 4}, ScalarType::kBool);
    EXPECT_EQ(result(sum, {flags, first}), "i64[4]");
    EXPECT_EQ(result(sum, {flags, first}, {{"dtype", ScalarType::kFloat}}), "f32[4]");
  }
}

TEST_F(InferTest, BroadcastsSizesAndPromotesDtypes) {
  Node* floats = input({2, 1, 4});
  Node* ints = input({3, 1}, ScalarType::kInt);
  EXPECT_EQ(result("aten.add.Tensor", {floats, ints}), "f32[2, 3, 4]");
  EXPECT_EQ(result("aten.add.Tensor", {ints, 2}), "i32[3, 1]");
  EXPECT_EQ(result("aten.add.Tensor", {ints, 2.5}), "f32[3, 1]");
  EXPECT_EQ(result("aten.div.Tensor", {ints, 2}), "f32[3, 1]");
  EXPECT_EQ(result("aten.gt.Scalar", {ints, 2.5}), "bool[3, 1]");
  Node* complex_halves = input({3, 1}, ScalarType::kComplexHalf);
  EXPECT_EQ(result("aten.add.Tensor", {complex_halves, floats}), "c64[2, 3, 4]");
  EXPECT_EQ(result("aten.add.Tensor", {input({2}, ScalarType::kDouble), complex_halves}),
            "c128[3, 2]");
  expect_error("aten.add.Tensor", {ints, input({3, 1}, ScalarType::kUInt16)},
               "dtypes i32 and u16 have no common dtype");
  expect_error("aten.add.Tensor", {floats, input({5})},
               "aten.add.Tensor: sizes 4 and 5 cannot be broadcast");
}

TEST_F(InferTest, PoolingHonorsCeilMode) {
  Node* x = input({1, 1, 6, 6});
  const Sizes none = {0, 0}, one = {1, 1}, two = {2, 2}, three = {3, 3};
  EXPECT_EQ(result("aten.max_pool2d.default", {x, three, two}), "f32[1, 1, 2, 2]");
  EXPECT_EQ(result("aten.max_pool2d.default", {x, three, two, none, one, true}), "f32[1, 1, 3, 3]");
  // A third window would begin in the right padding, so it does not count.
  EXPECT_EQ(result("aten.max_pool2d.default", {x, two, Sizes{4, 4}, one, one, true}),
            "f32[1, 1, 2, 2]");
}

TEST_F(InferTest, ErrorsNameTheMismatch) {
  Node* x = input({2, 3});
  expect_error("aten.mm.default", {x, x}, "inner sizes are 3 and 2; they must be equal");
  expect_error("aten.view.default", {x, Sizes{4}},
               "the input has 6 elements, but the sizes need 4");
  expect_error("aten.softmax.int", {x, 2}, "dim 2 is out of range for a tensor of rank 2");
  expect_error("aten.permute.default", {x, Sizes{0, 0}}, "dim 0 is repeated");
  expect_error("aten.nothing.default", {x}, "the shape of the result is unknown");
}

}  // namespace
}  // namespace vitrine::aot
