// Tests of results that are written over operands.
#include <gtest/gtest.h>

#include "aot/emit/method_tensors.h"
#include "aot/optimize/rules.h"
#include "aot/passes/pipelines.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

const std::vector<SymInt> kRow = {16};  // 64 bytes, four times the plan's alignment

class InPlace : public testing::Test {
 protected:
  Node* input(const char* name, std::vector<SymInt> sizes = kRow) {
    return build_.input(name, ScalarType::kFloat, std::move(sizes));
  }
  Node* call(const char* target, ArgumentList args) { return build_.call(target, std::move(args)); }
  void place(const std::vector<Node*>& results) {
    program_ = build_.finish(results);
    to_edge(program_);
    to_executable(program_);
    Changes changes(program_.range_constraints);
    slices_to_views(program_, changes);
    options_.in_place = true;
    tensors_ = std::make_unique<MethodTensors>(program_, options_, shared_);
  }
  // Returns the offset of an input, or of the result of the only call of an operator.
  uint64_t offset(std::string_view name) const {
    for (const Node& node : program_.graph->nodes()) {
      const bool is_match = node.is_call()
                                ? node.target().name().find(name) != std::string_view::npos
                                : node.name() == name;
      if (is_match) return tensors_->tensor(tensors_->of(node).at(0)).value.offset.value();
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }

  ModelBuilder build_{"Net"};
  ExportedProgram program_;
  SharedBuffers shared_;
  EmitOptions::MemoryPlanning options_;
  std::unique_ptr<MethodTensors> tensors_;
};

TEST_F(InPlace, OverwritesOperandsAfterLastUse) {
  Node* y = call("aten.abs.default", {call("aten.neg.default", {input("x")})});
  place({call("aten.mul.Tensor", {input("z"), y})});
  EXPECT_EQ(offset("abs"), offset("neg"));
  EXPECT_EQ(offset("mul"), offset("neg"));
  EXPECT_NE(offset("neg"), offset("x"));
  EXPECT_NE(offset("neg"), offset("z"));
}

TEST_F(InPlace, DoesNotOverwriteOperandsThatAreReadLater) {
  Node* x = call("aten.neg.default", {input("x")});
  Node* y = call("aten.abs.default", {x});
  place({call("aten.mul.Tensor", {x, y})});
  EXPECT_NE(offset("abs"), offset("neg"));
  EXPECT_TRUE(offset("mul") == offset("neg") || offset("mul") == offset("abs"));
}

TEST_F(InPlace, DoesNotOverwriteOutputs) {
  Node* x = call("aten.neg.default", {input("x")});
  place({x, call("aten.abs.default", {x})});
  EXPECT_NE(offset("abs"), offset("neg"));
}

// An operand that is broadcast must not be overwritten, since each of its elements is needed for
// several elements of the result.
TEST_F(InPlace, DoesNotOverwriteBroadcastOperands) {
  Node* column = call("aten.neg.default", {input("x", {4, 1})});
  Node* square = call("aten.abs.default", {input("y", {4, 4})});
  place({call("aten.mul.Tensor", {column, square})});
  EXPECT_NE(offset("mul"), offset("neg"));
  EXPECT_EQ(offset("mul"), offset("abs"));
}

// The operands are overlapping views that start at different elements.
TEST_F(InPlace, DoesNotOverwriteOverlappingViews) {
  Node* x = call("aten.neg.default", {input("x", {24})});
  Node* a = call("aten.slice.Tensor", {x, 0, 0, 16});
  Node* b = call("aten.slice.Tensor", {x, 0, 4, 20});
  place({call("aten.mul.Tensor", {a, b})});
  ASSERT_EQ(program_.graph->nodes().size(), 6U);  // x, neg, two views, mul, output
  EXPECT_NE(offset("mul"), offset("neg"));
  EXPECT_NE(offset("mul"), offset("neg") + 16);
}

TEST_F(InPlace, OverwritesPartOfATensorThroughItsView) {
  Node* x = call("aten.neg.default", {input("x", {24})});
  Node* part = call("aten.slice.Tensor", {x, 0, 4, 20});
  place({call("aten.mul.Tensor", {part, part})});
  EXPECT_EQ(offset("mul"), offset("neg") + 16);
}

TEST_F(InPlace, OverwritesOnlyOperandsOfSameDtype) {
  Node* x = call("aten.neg.default", {input("x")});
  Node* y = build_.input("y", ScalarType::kInt, kRow);
  Node* n = call("aten.abs.default", {y});
  place({call("aten.mul.Tensor", {x, n}), call("aten.bitwise_not.default", {n})});
  EXPECT_EQ(offset("mul"), offset("neg"));
  EXPECT_EQ(offset("bitwise_not"), offset("abs"));
}

}  // namespace
}  // namespace vitrine::aot
