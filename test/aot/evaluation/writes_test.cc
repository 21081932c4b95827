// Writes as user models spell them: in place, through views, to what has another dtype.
#include <gtest/gtest.h>

#include <functional>

#include "aot/passes/pipelines.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

using Write = std::function<void(ModelBuilder&, Node* copy, const std::vector<Node*>& in)>;

// A copy of the first input after `write`.
Values written(const std::vector<TensorData>& inputs, const Write& write) {
  return values_of(run(inputs, [&](ModelBuilder& build, const std::vector<Node*>& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    write(build, copy, in);
    return copy;
  })[0]);
}

TEST(Writes, KeepTheDtypeOfWhatIsWritten) {
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
  // What asks a question writes its answer as a number.
  EXPECT_EQ(written({floats({3}, {1, -1, 0})},
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>&) {
                      build.call_as("aten.gt_.Scalar", {copy, 0}, {}, *copy->tensor());
                    }),
            (Values{1, 0, 0}));
}

TEST(Writes, ThroughDiagonals) {
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

TEST(Writes, ByIndex) {
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

// x.unsqueeze_(0) makes x a view of itself: what follows reads it as that.
TEST(Writes, ViewsInPlace) {
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

TEST(Writes, PythonsOperators) {
  const std::vector<TensorData> inputs = {integers({3}, {1, 2, 4}), integers({3}, {3, 3, 3})};
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      build.call_as("aten.__ior__.Tensor", {copy, in[1]}, {}, *copy->tensor());
                      build.call_as("aten.__ixor__.Scalar", {copy, 1}, {}, *copy->tensor());
                    }),
            (Values{2, 2, 6}));
}

// A symbolic size is asked of the tensor when a write is put back.
TEST(Writes, ThroughViewsOfSymbolicSizes) {
  ModelBuilder build("Net");
  const SymInt rows = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {rows, 4});
  Node* copy = build.call("aten.clone.default", {x});
  Node* apart = build.call_as("aten.view.default", {copy, std::vector<int64_t>{-1, 2, 2}}, {},
                              contiguous_spec(ScalarType::kFloat, {rows, 2, 2}));
  Node* half = build.call("aten.select.int", {apart, 1, 0});
  build.call("aten.fill_.Scalar", {half, 0});
  ExportedProgram program = build.finish({copy});
  to_edge(program);
  const std::vector<TensorData> inputs = {floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})};
  EXPECT_EQ(values_of(evaluate(program, inputs)[0]), (Values{0, 0, 3, 4, 0, 0, 7, 8}));
}

}  // namespace
}  // namespace vitrine::aot
