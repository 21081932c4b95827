// Rules that the corpus does not touch: symbols, and errors.
#include "aot/shapes/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/graph.h"

namespace vitrine::aot {
namespace {

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
  std::string failure(const char* target, ArgumentList args) {
    try {
      infer(Target::of(target), args);
    } catch (const AotError& error) {
      return error.what();
    }
    return "";
  }
  Graph graph_;
};

TEST_F(InferTest, SymbolsGoThroughShapes) {
  Node* x = input({symbol("s0"), 6, 8});
  EXPECT_EQ(result("aten.view.default", {x, std::vector<int64_t>{-1, 8}}), "f32[6*s0, 8]");
  EXPECT_EQ(result("aten.flatten.using_ints", {x, 1}), "f32[s0, 48]");
  EXPECT_EQ(result("aten.slice.Tensor", {x, 1, 1, 5}), "f32[s0, 4, 8]");
  EXPECT_EQ(result("aten.slice.Tensor", {x, 0, 0, INT64_MAX}), "f32[s0, 6, 8]");
  EXPECT_EQ(result("aten.cat.default", {Argument::list({x, x}), 1}), "f32[s0, 12, 8]");
  Node* folded = input({SymInt(6) * symbol("s0"), 8});
  EXPECT_EQ(result("aten.view.default", {folded, std::vector<int64_t>{-1, 6, 8}}), "f32[s0, 6, 8]");
}

// As aten.sum: integers and booleans to i64 unless a dtype is given.
TEST_F(InferTest, SumsOfNumbersAreSums) {
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

TEST_F(InferTest, BroadcastsAndPromotes) {
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
  EXPECT_THAT(failure("aten.add.Tensor", {ints, input({3, 1}, ScalarType::kUInt16)}),
              testing::HasSubstr("dtypes i32 and u16 have no common dtype"));
  EXPECT_THAT(failure("aten.add.Tensor", {floats, input({5})}),
              testing::HasSubstr("aten.add.Tensor: sizes 4 and 5 do not fit"));
}

TEST_F(InferTest, WindowsRoundAsAsked) {
  Node* x = input({1, 1, 6, 6});
  const std::vector<int64_t> three = {3, 3};
  const std::vector<int64_t> two = {2, 2};
  const std::vector<int64_t> none = {0, 0};
  const std::vector<int64_t> one = {1, 1};
  EXPECT_EQ(result("aten.max_pool2d.default", {x, three, two}), "f32[1, 1, 2, 2]");
  EXPECT_EQ(result("aten.max_pool2d.default", {x, three, two, none, one, true}), "f32[1, 1, 3, 3]");
  // The last window would begin in the right padding.
  EXPECT_EQ(result("aten.max_pool2d.default", {x, two, std::vector<int64_t>{4, 4}, one, one, true}),
            "f32[1, 1, 2, 2]");
}

TEST_F(InferTest, RefusesWithNames) {
  Node* x = input({2, 3});
  EXPECT_THAT(failure("aten.mm.default", {x, x}),
              testing::HasSubstr("inner sizes differ: 3 and 2"));
  EXPECT_THAT(failure("aten.view.default", {x, std::vector<int64_t>{4}}),
              testing::HasSubstr("6 elements do not become 4"));
  EXPECT_THAT(failure("aten.softmax.int", {x, 2}),
              testing::HasSubstr("dim 2 of a tensor of rank 2"));
  EXPECT_THAT(failure("aten.permute.default", {x, std::vector<int64_t>{0, 0}}),
              testing::HasSubstr("names a dim twice"));
  EXPECT_THAT(failure("aten.nothing.default", {x}),
              testing::HasSubstr("its result's shape is unknown"));
}

}  // namespace
}  // namespace vitrine::aot
