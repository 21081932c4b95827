#include <gtest/gtest.h>

#include <memory>

#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

// A program that computes relu(max(x, 0).values), whose nodes have no origin.
struct SourceProgram {
  ModelBuilder build{"Net"};
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* max = build.call_as("aten.max.dim", {x, 0}, {},
                            Value::Items{contiguous_spec(ScalarType::kFloat, {3}),
                                         contiguous_spec(ScalarType::kLong, {3})});
  Node* values = build.item(max, 0);
  Node* result = build.call("aten.relu.default", {values});
  ExportedProgram program = build.finish({result});

  SourceProgram() {
    for (Node* node : {max, values, result}) node->meta.origin = nullptr;
  }
};

TEST(RememberSources, RecordsEachCallAsTheSourceOfItselfAndItsGetitems) {
  SourceProgram p;
  remember_sources(p.program);
  const auto source = [](const Node* node) { return node->meta.origin->from_node.at(0); };
  EXPECT_EQ(source(p.max).name, p.max->name());
  EXPECT_EQ(source(p.max).target, "aten.max.dim");
  EXPECT_EQ(source(p.values).name, p.max->name());
  EXPECT_EQ(source(p.result).name, p.result->name());
  EXPECT_EQ(source(p.result).target, "aten.relu.default");
  EXPECT_EQ(p.x->meta.origin, nullptr) << "inputs are not calls";
}

TEST(RememberSources, KeepsSourcesThatNodesAlreadyHave) {
  SourceProgram p;
  auto origin = std::make_shared<Origin>();
  origin->from_node.emplace_back().name = "older";
  p.result->meta.origin = origin;
  remember_sources(p.program);
  EXPECT_EQ(p.result->meta.origin, origin);
}

}  // namespace
}  // namespace vitrine::aot
