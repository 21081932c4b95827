#include <gtest/gtest.h>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

// x.t_() transposes x in place without moving elements. Later calls read the transposed x.
TEST(UnifyWrites, ReplacesInPlaceViews) {
  const auto found = run(
      {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, [](ModelBuilder& build, const std::vector<Node*>& in) {
        Node* copy = build.call("aten.clone.default", {in[0]});
        build.call_as("aten.t_.default", {copy}, {}, contiguous_spec(ScalarType::kFloat, {3, 2}));
        Node* row = build.call_as("aten.select.int", {copy, 0, 1}, {},
                                  contiguous_spec(ScalarType::kFloat, {2}));
        build.call("aten.mul_.Tensor", {row, 10});
        return build.call_as("aten.add.Tensor", {copy, 0}, {},
                             contiguous_spec(ScalarType::kFloat, {3, 2}));
      });
  EXPECT_EQ(values_of(found[0]), (Values{1, 4, 20, 50, 3, 6}));
}

TEST(UnifyWrites, ReplacesInPlaceOperatorsOfPython) {
  const std::vector<TensorData> inputs = {integers({3}, {1, 2, 4}), integers({3}, {3, 3, 3})};
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      build.call_as("aten.__ior__.Tensor", {copy, in[1]}, {}, *copy->tensor());
                      build.call_as("aten.__ixor__.Scalar", {copy, 1}, {}, *copy->tensor());
                    }),
            (Values{2, 2, 6}));
}

// The functional form of these operators is another overload, or takes arguments of other types.
TEST(UnifyWrites, FindsFunctionalFormsWithDifferentNames) {
  const std::vector<TensorData> x = {floats({3}, {1, 2, 3}), floats({3}, {2, 1, 0})};
  const auto by = [&](const char* target, bool with_tensor) {
    return written(x, [=](ModelBuilder& build, Node* copy, const Nodes& in) {
      build.call_as(target, {copy, with_tensor ? Argument(in[1]) : Argument(2)}, {},
                    *copy->tensor());
    });
  };
  EXPECT_EQ(by("aten.pow_.Scalar", false), (Values{1, 4, 9}));
  EXPECT_EQ(by("aten.pow_.Tensor", true), (Values{1, 2, 1}));
  EXPECT_EQ(by("aten.floor_divide_.Tensor", false), (Values{0, 1, 1}));
  EXPECT_EQ(by("aten.ldexp_.default", true), (Values{4, 4, 3}));
}

}  // namespace
}  // namespace vitrine::aot
