#include <gtest/gtest.h>

#include <functional>

#include "aot/graph/aot_error.h"
#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(ViewInverses, WritesThroughViewsReachTheBase) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto written = [&](const std::function<void(ModelBuilder&, Node*)>& write) {
    return run({x}, [&](ModelBuilder& build, const std::vector<Node*>& in) {
      Node* copy = build.call("aten.clone.default", {in[0]});
      write(build, copy);
      return copy;
    })[0];
  };
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* row = build.call("aten.select.int", {t, 0, 1});
                build.call("aten.mul_.Tensor", {row, 10});
              }),
              {1, 2, 3, 40, 50, 60});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* columns = build.call("aten.slice.Tensor", {t, 1, 1, 3});
                build.call("aten.fill_.Scalar", {columns, 0});
              }),
              {1, 0, 0, 4, 0, 0});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* flat = build.call("aten.view.default", {t, std::vector<int64_t>{6}});
                Node* end = build.call("aten.slice.Tensor", {flat, 0, 4, 6});
                build.call("aten.neg_.default", {end});
              }),
              {1, 2, 3, 4, -5, -6});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* transposed = build.call("aten.transpose.int", {t, 0, 1});
                Node* first = build.call("aten.select.int", {transposed, 0, 0});
                build.call("aten.add_.Tensor", {first, 100});
              }),
              {101, 2, 3, 104, 5, 6});
  expect_near(written([](ModelBuilder& build, Node* t) {
                Node* wide = build.call("aten.unsqueeze.default", {t, 0});
                Node* narrow = build.call("aten.squeeze.dim", {wide, 0});
                build.call("aten.relu_.default", {build.call("aten.neg_.default", {narrow})});
              }),
              {0, 0, 0, 0, 0, 0});
}

TEST(ViewInverses, RejectsWritesThroughUnsupportedViews) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 2});
  Node* copy = build.call("aten.clone.default", {x});
  Node* windows = build.call("aten.unfold.default", {copy, 0, 1, 1});
  build.call("aten.fill_.Scalar", {windows, 0});
  ExportedProgram program = build.finish({copy});
  try {
    to_edge(program);
    FAIL() << "to_edge() accepted a write through unfold";
  } catch (const AotError& error) {
    EXPECT_NE(std::string(error.what()).find("writes through the view aten.unfold.default"),
              std::string::npos)
        << error.what();
  }
}

TEST(ViewInverses, SupportsDiagonals) {
  EXPECT_EQ(written({floats({2, 3}, {1, 2, 3, 4, 5, 6})},
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>&) {
                      Node* diagonal = build.call("aten.diagonal.default", {copy, 1});
                      build.call("aten.mul_.Tensor", {diagonal, 10});
                    }),
            (Values{1, 20, 3, 4, 5, 60}));
  EXPECT_EQ(
      written({floats({2, 2}, {1, 2, 3, 4})},
              [](ModelBuilder& build, Node* copy, const std::vector<Node*>&) {
                build.call_as("aten.fill_diagonal_.default", {copy, 9.0}, {}, *copy->tensor());
              }),
      (Values{9, 2, 3, 9}));
}

// The inverse of the view reads a symbolic size from the tensor.
TEST(ViewInverses, SupportsViewsWithSymbolicSizes) {
  ModelBuilder build("Net");
  const SymInt rows = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {rows, 4});
  Node* copy = build.call("aten.clone.default", {x});
  Node* split = build.call_as("aten.view.default", {copy, std::vector<int64_t>{-1, 2, 2}}, {},
                              contiguous_spec(ScalarType::kFloat, {rows, 2, 2}));
  Node* half = build.call("aten.select.int", {split, 1, 0});
  build.call("aten.fill_.Scalar", {half, 0});
  ExportedProgram program = build.finish({copy});
  to_edge(program);
  const std::vector<TensorData> inputs = {floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})};
  EXPECT_EQ(values_of(evaluate(program, inputs)[0]), (Values{0, 0, 3, 4, 0, 0, 7, 8}));
}

}  // namespace
}  // namespace vitrine::aot
