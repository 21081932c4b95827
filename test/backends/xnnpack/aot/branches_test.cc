// Tests delegates in branches of cond and of nested conds, from the partitioner to execution.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "aot/emit/emit.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "test/backends/xnnpack/aot/test_program.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "tools/common/tool_error.h"
#include "vitrine/array.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

XnnpackPartitioner partitioner(bool in_branches) {
  return XnnpackPartitioner({.in_branches = in_branches});
}

// Builds the graph of a branch. `handle` is the latest debug handle in the program; call()
// increments it.
struct Branch {
  Graph& graph;
  uint32_t& handle;

  Node* operand(const char* name, TensorSpec spec) {
    Node* node = graph.placeholder(name);
    node->meta.value = std::move(spec);
    return node;
  }
  // Adds a constant that belongs to the branch graph, like those that torch.export creates for
  // Python literals.
  Node* scalar(float value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    graph.tensors()["_tensor_constant0"] = make_tensor_data(ScalarType::kFloat, {}, bytes);
    Node* node = graph.get_attr("_tensor_constant0");
    node->meta.value = contiguous_spec(ScalarType::kFloat, {});
    return node;
  }
  Node* call(const char* target, ArgumentList args) {
    Node* node = graph.call(Target::of(target, Dialect::kEdge), std::move(args));
    node->meta.value = contiguous_spec(ScalarType::kFloat, {3, 3});
    node->meta.debug_handle = ++handle;
    return node;
  }
  Branch inner(const char* name) {
    std::unique_ptr<Graph>& subgraph = graph.subgraphs()[name];
    subgraph = std::make_unique<Graph>();
    return {*subgraph, handle};
  }
  Node* cond(Node* flag, const char* first, const char* second, ArgumentList operands) {
    Node* node = graph.call(
        Target::of("cond", Dialect::kHigherOrder),
        {flag, graph.get_attr(first), graph.get_attr(second), Argument::list(std::move(operands))});
    const Value value = contiguous_spec(ScalarType::kFloat, {3, 3});
    node->meta.value = Value(Value::Items{value});
    Node* item = graph.call(getitem(), {node, 0});
    item->meta.value = value;
    return item;
  }
  void returns(Node* node) { graph.set_output(Argument::tuple({node})); }
};

// sigmoid(outer ? (inner ? tanh(r * r) : -r) : x - exp(x) + 0.25) with r = relu(sin(x + x) @ w.T)
struct DelegatesInBranches : testing::Test {
  TestProgram t;
  uint32_t handle = 0;
  const std::vector<float> weight = ramp(9, 0.3f);

  void SetUp() override {
    const TensorSpec matrix = contiguous_spec(ScalarType::kFloat, {3, 3});
    const TensorSpec flag = contiguous_spec(ScalarType::kBool, {});
    Node* w = t.parameter("w", {3, 3}, weight);
    Node* x = t.input("x", {3, 3});
    Node* outer = t.input("outer", {}, ScalarType::kBool);
    Node* inner = t.input("inner", {}, ScalarType::kBool);
    Branch top{*t.program.graph, handle};

    Branch yes = top.inner("true_graph_0");
    Node* x1 = yes.operand("x_1", matrix);
    Node* w1 = yes.operand("w_1", matrix);
    Node* flag1 = yes.operand("flag_1", flag);
    Node* sum = yes.call("aten.add.Tensor", {x1, x1});
    Node* sine = yes.call("aten.sin.default", {sum});
    Node* transposed = yes.call("aten.permute_copy.default", {w1, std::vector<int64_t>{1, 0}});
    Node* product = yes.call("aten.mm.default", {sine, transposed});
    Node* relu = yes.call("aten.relu.default", {product});
    Branch inner_yes = yes.inner("true_graph_0");
    Node* r1 = inner_yes.operand("r_1", matrix);
    Node* square = inner_yes.call("aten.mul.Tensor", {r1, r1});
    inner_yes.returns(inner_yes.call("aten.tanh.default", {square}));
    Branch inner_no = yes.inner("false_graph_0");
    inner_no.returns(inner_no.call("aten.neg.default", {inner_no.operand("r_1", matrix)}));
    yes.returns(yes.cond(flag1, "true_graph_0", "false_graph_0", {relu}));

    Branch no = top.inner("false_graph_0");
    Node* x2 = no.operand("x_1", matrix);
    no.operand("w_1", matrix);
    no.operand("flag_1", flag);
    Node* difference = no.call("aten.sub.Tensor", {x2, no.call("aten.exp.default", {x2})});
    no.returns(no.call("aten.add.Tensor", {difference, no.scalar(0.25f)}));

    Node* chosen = top.cond(outer, "true_graph_0", "false_graph_0", {x, w, inner});
    t.output({top.call("aten.sigmoid.default", {chosen})});
  }

  std::vector<Graph*> graphs() {
    Graph& top = *t.program.graph;
    Graph& yes = *top.subgraphs().at("true_graph_0");
    return {&top, &yes, yes.subgraphs().at("true_graph_0").get(),
            yes.subgraphs().at("false_graph_0").get(), top.subgraphs().at("false_graph_0").get()};
  }

  double expected(const std::vector<float>& x, size_t index, bool outer, bool inner) const {
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    const double element = x[index];
    if (!outer) return sigmoid(element - std::exp(element) + 0.25);
    double sum = 0;
    for (size_t k = 0; k < 3; ++k) {
      sum += std::sin(2.0 * static_cast<double>(x[index / 3 * 3 + k])) *
             static_cast<double>(weight[index % 3 * 3 + k]);
    }
    const double r = std::max(sum, 0.0);
    return sigmoid(inner ? std::tanh(r * r) : -r);
  }
};

TEST_F(DelegatesInBranches, AreDisabledByDefaultAsInExecuTorch) {
  const PartitionResult result = partitioner(false).partition(t.program);
  EXPECT_THAT(result.tags, SizeIs(1));
  for (Graph* graph : graphs()) {
    for (const Node& node : graph->nodes()) {
      EXPECT_EQ(node.meta.delegation_tag.empty(), node.name() != "aten_sigmoid_default");
    }
  }
  size_t rejected = 0;
  for (const Rejection& rejection : result.rejections) {
    if (&rejection.node->graph() == t.program.graph.get()) continue;
    ++rejected;
    EXPECT_THAT(rejection.rule, HasSubstr("in a branch"));
    EXPECT_THAT(rejection.remedy, HasSubstr("enable branches in the partitioner"));
  }
  EXPECT_EQ(rejected, 13U);
}

// The partitioner may prevent the decomposition of an operator only if a delegate can run the
// operator.
TEST_F(DelegatesInBranches, PreventDecompositionOnlyIfEnabled) {
  Node* swish = graphs()[4]->call(Target::of("aten.hardswish.default", Dialect::kEdge),
                                  {graphs()[4]->placeholders()[0]});
  swish->meta.value = contiguous_spec(ScalarType::kFloat, {3, 3});
  EXPECT_FALSE(partitioner(false).ops_to_keep(t.program).keeps(*swish));
  EXPECT_TRUE(partitioner(true).ops_to_keep(t.program).keeps(*swish));
}

TEST_F(DelegatesInBranches, TreatWeightsOfTheProgramAsComputed) {
  const PartitionResult result = partitioner(true).partition(t.program);
  std::vector<std::set<std::string>> tags;
  for (Graph* graph : graphs()) {
    std::set<std::string>& graph_tags = tags.emplace_back();
    for (const Node& node : graph->nodes()) {
      const std::string& tag = node.meta.delegation_tag;
      if (!tag.empty()) graph_tags.insert(tag);
      const bool is_operand = node.kind() == Node::Kind::kPlaceholder;
      EXPECT_TRUE(!is_operand || tag.empty()) << node.name();
    }
  }
  // XNNPACK rejects the matrix product, because its weight is computed. So the calls before and
  // after the product are in two delegates.
  EXPECT_THAT(tags, ElementsAre(SizeIs(1), SizeIs(2), SizeIs(1), SizeIs(1), SizeIs(1)));
  EXPECT_THAT(result.tags, SizeIs(6));
  const Node* product = graphs()[1]->find("aten_mm_default");
  EXPECT_EQ(product->meta.delegation_tag, "");
  const auto rejected = std::ranges::find(result.rejections, product, &Rejection::node);
  ASSERT_NE(rejected, result.rejections.end());
  EXPECT_THAT(rejected->rule, HasSubstr("its weight w_1 is computed"));
}

TEST_F(DelegatesInBranches, ComputeTheResultsOfEveryBranch) {
  to_backend(t.program, partitioner(true));
  std::vector<size_t> delegates;
  for (Graph* graph : graphs()) delegates.push_back(get_lowered_submodules(*graph).size());
  EXPECT_THAT(delegates, ElementsAre(1, 2, 1, 1, 1));
  // The program keeps the weight, because no delegate contains it.
  EXPECT_NE(t.program.graph->find("w"), nullptr);
  to_executable(t.program);
  Methods methods;
  methods.emplace("forward", std::move(t.program));
  const EmittedProgram emitted = emit(methods);

  // The debug info maps every delegate call to its operators.
  const MethodDebugInfo& debug = emitted.debug_info.at("forward");
  EXPECT_THAT(debug.delegates, SizeIs(6));
  for (const auto& [instruction, delegate] : debug.delegates) {
    std::set<uint32_t> mapped;
    for (const auto& [identifier, handles] : delegate.map) {
      mapped.insert(handles.begin(), handles.end());
    }
    const std::vector<uint32_t>& all = debug.handles.at(instruction);
    EXPECT_EQ(mapped, std::set<uint32_t>(all.begin(), all.end())) << instruction;
    EXPECT_THAT(mapped, testing::Not(IsEmpty()));
  }

  const vitrine::test::ScratchFolder scratch;
  const std::filesystem::path file = scratch / "branches.pte";
  tools::write_file(file, emitted.pte);
  tools::Session session({file, {}, 1, {}, true});
  const std::unique_ptr<Method> method = session.load_method("forward");
  const std::vector<float> numbers = {0.1f, -0.7f, 1.2f, -1.5f, 0.4f, 0.9f, 2.0f, -0.2f, 0.6f};
  for (const int flags : {0, 1, 2, 3}) {
    const bool outer = (flags & 1) != 0;
    const bool inner = (flags & 2) != 0;
    Array x = tools::check(Array::copy_of<float>(numbers, {3, 3}));
    tools::check(method->set_input(0, EValue(&x.mutable_tensor())));
    std::vector<Array> flag_inputs;
    for (const bool flag : {outer, inner}) {
      flag_inputs.push_back(tools::check(Array::copy_of<bool>({&flag, 1}, {})));
      tools::check(
          method->set_input(flag_inputs.size(), EValue(&flag_inputs.back().mutable_tensor())));
    }
    tools::check(method->execute());
    const float* y = method->output(0).unchecked_tensor().data<float>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(y[i], expected(numbers, i, outer, inner), 1e-5) << flags << ", " << i;
    }
  }
}

}  // namespace
}  // namespace vitrine::aot::test
