// What becomes of programs that partitioners have tagged.
#include "aot/lowering/to_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/lowering/constant_tags.h"
#include "aot/lowering/lowered_modules.h"
#include "test/aot/lowering/program_builder.h"

namespace vitrine::aot {
namespace {

using test::ProgramBuilder;
using test::tagging;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

std::vector<std::string> input_names(const ExportedProgram& program) {
  std::vector<std::string> names;
  for (const InputSpec& spec : program.signature.inputs) names.push_back(spec.name);
  return names;
}

const LoweredBackendModule& module(const ExportedProgram& program, const char* name) {
  return *program.graph->lowered_modules().at(name);
}

TEST(ToBackend, PartsBecomeCallsWithTheNextDebugHandle) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.erf.default", {a});
  Node* d = b.call("aten.relu.default", {c});
  b.returns(d);
  ExportedProgram& program = b.finish();
  to_backend(program, tagging({{"aten_relu_default", "tag1"}, {"aten_relu_default_1", "tag0"}}));
  const std::vector<LoweredSubmodule> lowered = get_lowered_submodules(*program.graph);
  ASSERT_THAT(lowered, SizeIs(2));
  EXPECT_EQ(lowered[0].name, "lowered_module_0");
  EXPECT_EQ(lowered[0].call->name(), "executorch_call_delegate");
  EXPECT_EQ(lowered[0].module->original.graph->find("aten_relu_default")->meta.debug_handle, 1U);
  // Handles of the nodes left in the graph: erf has 2.
  EXPECT_EQ(lowered[0].call->meta.debug_handle, 3U);
  EXPECT_EQ(lowered[1].call->meta.debug_handle, 4U);
  EXPECT_EQ(format_node(*program.graph->output()), "return (getitem,)");  // tag0 was first
  for (const Node& node : program.graph->nodes()) EXPECT_EQ(node.meta.delegation_tag, "");
}

TEST(ToBackend, TheBackendGetsACopyAndItsSpecs) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  b.returns(a);
  const CompileSpec spec{"level", {std::byte{'3'}}};
  const auto lowered = to_backend(test::NamedBackend("Named"), b.finish(), {&spec, 1});
  EXPECT_EQ(lowered->backend_id, "Named");
  EXPECT_EQ(lowered->processed_bytes->size(), 6U);
  EXPECT_THAT(lowered->compile_specs, ElementsAre(spec));
  EXPECT_TRUE(lowered->original.graph->find("aten_relu_default")->target().is("aten.relu.default"));
  EXPECT_TRUE(a->target().is("aten.relu.default"));
}

TEST(ToBackend, TaggedWeightsMoveUntaggedOnesAreGiven) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* q = b.parameter("q");
  Node* c = b.constant("c");
  Node* x = b.input("x");
  Node* sum = b.call("aten.cat.default", {Argument::list({x, p, q, c})});
  b.returns(sum);
  ExportedProgram& program = b.finish();
  to_backend(program, tagging({{"p", "t"}, {"c", "t"}, {"aten_cat_default", "t"}}));
  EXPECT_THAT(input_names(program), ElementsAre("q", "x"));
  EXPECT_FALSE(program.state_dict.contains("of.p"));
  EXPECT_TRUE(program.state_dict.contains("of.q"));
  EXPECT_THAT(program.constants, IsEmpty());
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  EXPECT_THAT(input_names(original), ElementsAre("p", "q", "c", "x"));
  EXPECT_EQ(original.signature.inputs[0].kind, InputSpec::Kind::kParameter);
  EXPECT_EQ(original.signature.inputs[1].kind, InputSpec::Kind::kUserInput);
  EXPECT_EQ(original.signature.inputs[2].kind, InputSpec::Kind::kTensorConstant);
  EXPECT_TRUE(original.state_dict.contains("of.p"));
  EXPECT_TRUE(original.constants.contains("of.c"));
  EXPECT_FALSE(original.state_dict.contains("of.q"));
  const Node* call = get_lowered_submodules(*program.graph)[0].call;
  EXPECT_EQ(call->args()[1].node()->name(), "q");
  EXPECT_EQ(call->args()[2].node()->name(), "x");
  EXPECT_EQ(call->args().size(), 3U);
}

TEST(ToBackend, SharedWeightsAreCopiedForEachTag) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  Node* a = b.call("aten.add.Tensor", {x, p});
  Node* between = b.call("aten.erf.default", {a});
  Node* again = b.call("aten.mul.Tensor", {between, p});
  Node* left = b.call("aten.sub.Tensor", {again, p});
  b.returns(left);
  ExportedProgram& program = b.finish();
  to_backend(program, tagging({{"p", "t1"}, {"aten_add_tensor", "t0"}, {"aten_mul_tensor", "t1"}}));
  // The first user keeps the original; users that are not delegated get a copy.
  EXPECT_THAT(input_names(program), ElementsAre("p_copy_1", "x"));
  EXPECT_TRUE(program.state_dict.contains("of.p"));
  EXPECT_THAT(input_names(module(program, "lowered_module_0").original), ElementsAre("p", "x"));
  EXPECT_THAT(input_names(module(program, "lowered_module_1").original),
              ElementsAre("p_copy_0", "aten_erf_default"));
  EXPECT_EQ(left->args()[1].node()->name(), "p_copy_1");
}

TEST(ToBackend, SharedWeightsThatMustNotBeCopiedAreRefused) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  p->meta.no_copy = true;
  Node* x = b.input("x");
  Node* a = b.call("aten.add.Tensor", {x, p});
  b.returns(b.call("aten.mul.Tensor", {a, p}));
  ExportedProgram& program = b.finish();
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"p", "t"}, {"aten_add_tensor", "t"}}));
      },
      ThrowsMessage<AotError>("node p: is tagged t, but its user aten_mul_tensor is not delegated; "
                              "it cannot be copied, since it is marked no_copy"));
}

struct MutatedBuffer : testing::Test {
  ProgramBuilder b;
  Node* state = b.buffer("b_state");
  Node* x = b.input("x");
  Node* sum = b.call("aten.add.Tensor", {state, x});
  Node* relu = b.call("aten.relu.default", {x});
};

TEST_F(MutatedBuffer, GoesAlongWithItsMutation) {
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  to_backend(program,
             tagging({{"b_state", "t"}, {"aten_add_tensor", "t"}, {"aten_relu_default", "t"}}));
  EXPECT_THAT(input_names(program), ElementsAre("x"));
  EXPECT_THAT(program.state_dict, IsEmpty());
  ASSERT_THAT(program.signature.outputs, SizeIs(1));
  EXPECT_EQ(program.signature.outputs[0].kind, OutputSpec::Kind::kUserOutput);
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  ASSERT_THAT(original.signature.outputs, SizeIs(2));
  EXPECT_EQ(original.signature.outputs[0].kind, OutputSpec::Kind::kBufferMutation);
  EXPECT_EQ(original.signature.outputs[0].target, "of.b_state");
  EXPECT_EQ(original.signature.outputs[0].name, "aten_add_tensor");
  EXPECT_EQ(original.signature.outputs[1].name, "aten_relu_default");
  // The result that is left is the first.
  const Node* call = get_lowered_submodules(*program.graph)[0].call;
  ASSERT_THAT(call->users(), SizeIs(1));
  EXPECT_EQ(call->users()[0]->args()[1], Argument(0));
  EXPECT_THAT(*call->meta.value.items(), SizeIs(1));
}

TEST_F(MutatedBuffer, MutationsAreTheFirstResultsWhereverTheyWere) {
  Node* late = b.buffer("b_late");
  b.program.graph->move_before(late, x);
  std::swap(b.program.signature.inputs[1], b.program.signature.inputs[2]);
  Node* product = b.call("aten.mul.Tensor", {late, relu});
  b.mutates(late, product);
  b.mutates(state, sum);
  b.returns(relu);
  ExportedProgram& program = b.finish();
  to_backend(program, tagging({{"b_state", "t"},
                               {"b_late", "t"},
                               {"aten_add_tensor", "t"},
                               {"aten_relu_default", "t"},
                               {"aten_mul_tensor", "t"}}));
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  EXPECT_EQ(format_node(*original.graph->output()),
            "return [aten_add_tensor, aten_mul_tensor, aten_relu_default]");
  EXPECT_EQ(format_node(*program.graph->output()), "return (getitem_1,)");
  EXPECT_EQ(program.graph->find("getitem_1")->args()[1], Argument(0));
}

TEST_F(MutatedBuffer, StaysOutsideIfUntagged) {
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  to_backend(program, tagging({{"aten_add_tensor", "t"}}));
  EXPECT_THAT(input_names(program), ElementsAre("b_state", "x"));
  ASSERT_THAT(program.signature.outputs, SizeIs(2));
  EXPECT_EQ(program.signature.outputs[1].kind, OutputSpec::Kind::kBufferMutation);
  EXPECT_EQ(program.signature.outputs[1].name, "getitem");
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  EXPECT_EQ(original.signature.inputs[0].kind, InputSpec::Kind::kUserInput);
  EXPECT_EQ(original.signature.outputs[0].kind, OutputSpec::Kind::kUserOutput);
}

TEST_F(MutatedBuffer, ItsNewValueCannotBeAnOutputToo) {
  b.mutates(state, sum);
  b.returns(sum);
  ExportedProgram& program = b.finish();
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"b_state", "t"}, {"aten_add_tensor", "t"}}));
      },
      ThrowsMessage<AotError>(testing::AllOf(HasSubstr("takes the buffer \"of.b_state\""),
                                             HasSubstr("also returns this value as another output"),
                                             HasSubstr("Leave the buffer untagged"))));
}

TEST_F(MutatedBuffer, ItsNewValueCannotBeUsedOutside) {
  Node* user = b.call("aten.abs.default", {sum});
  b.mutates(state, sum);
  b.returns(user);
  ExportedProgram& program = b.finish();
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"b_state", "t"}, {"aten_add_tensor", "t"}}));
      },
      ThrowsMessage<AotError>(HasSubstr("aten_abs_default uses this value too")));
}

TEST_F(MutatedBuffer, SharedWithTheGraphItIsRefused) {
  Node* reader = b.call("aten.abs.default", {state});
  b.mutates(state, sum);
  b.returns(reader);
  ExportedProgram& program = b.finish();
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"b_state", "t"}, {"aten_add_tensor", "t"}}));
      },
      ThrowsMessage<AotError>(HasSubstr("since the program mutates it")));
}

TEST_F(MutatedBuffer, TaggingHelpersTellThemApart) {
  Node* p = b.parameter("p");
  b.program.graph->move_before(p, x);
  std::swap(b.program.signature.inputs[1], b.program.signature.inputs[2]);
  sum->set_arg(1, p);
  sum->meta.delegation_tag = "t";
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  tag_constants(program);
  EXPECT_EQ(p->meta.delegation_tag, "t");
  EXPECT_EQ(state->meta.delegation_tag, "");
  tag_mutated_buffers(program);
  EXPECT_EQ(state->meta.delegation_tag, "t");
  state->meta.delegation_tag = "";
  relu->set_arg(0, state);  // another user, outside
  tag_mutated_buffers(program);
  EXPECT_EQ(state->meta.delegation_tag, "");
}

TEST_F(MutatedBuffer, HasNoFileOfItsOwn) {
  b.parameter("p");
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  tag_external_constants(program, [](const InputSpec& weight) { return "file_" + weight.name; });
  EXPECT_EQ(state->meta.external_tag, "");
  EXPECT_EQ(x->meta.external_tag, "");
  EXPECT_EQ(program.graph->find("p")->meta.external_tag, "file_p");
}

// Copies for partitions go to the same file as the weight.
TEST(ToBackend, SharedWeightsKeepTheirFile) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  Node* a = b.call("aten.add.Tensor", {x, p});
  b.returns(b.call("aten.mul.Tensor", {a, p}));
  ExportedProgram& program = b.finish();
  tag_external_constants(program, [](const InputSpec&) { return std::string("weights"); });
  to_backend(program, tagging({{"p", "t"}, {"aten_add_tensor", "t"}}));
  EXPECT_EQ(program.graph->find("p_copy_0")->meta.external_tag, "weights");
  const Node* taken = module(program, "lowered_module_0").original.graph->find("p");
  EXPECT_EQ(taken->meta.external_tag, "weights");
}

TEST(ToBackend, WhatMustNotBeTaggedIsRefused) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  b.returns(a);
  ExportedProgram& program = b.finish();
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"x", "t"}, {"aten_relu_default", "t"}}));
      },
      ThrowsMessage<AotError>(HasSubstr("node x: is tagged t, but only parameters")));
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"output", "t"}}));
      },
      ThrowsMessage<AotError>(HasSubstr("outputs must not be tagged")));
  const test::FunctionPartitioner unlisted([](ExportedProgram& each) {
    each.graph->find("aten_relu_default")->meta.delegation_tag = "t";
    return PartitionResult();
  });
  EXPECT_THAT([&] { to_backend(program, unlisted); },
              ThrowsMessage<AotError>(HasSubstr("does not list the tag t")));
}

TEST(ToBackend, APartitionerMayOnlyTag) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  b.returns(a);
  ExportedProgram& program = b.finish();
  const test::FunctionPartitioner changing([](ExportedProgram& each) {
    each.graph->find("aten_relu_default")->set_target(Target::of("aten.abs.default"));
    return PartitionResult();
  });
  ToBackendOptions unchecked;
  unchecked.check_partitioner = false;
  EXPECT_NO_THROW(to_backend(program, changing, unchecked));
  a->set_target(Target::of("aten.relu.default", Dialect::kEdge));
  EXPECT_THAT([&] { to_backend(program, changing); },
              ThrowsMessage<AotError>(HasSubstr("aten_relu_default: the partitioner changed it")));
}

TEST(ToBackend, ACyclicPartitionIsRefused) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* between = b.call("aten.erf.default", {a});
  b.returns(b.call("aten.add.Tensor", {a, between}));
  ExportedProgram& program = b.finish();
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"aten_relu_default", "t"}, {"aten_add_tensor", "t"}}));
      },
      ThrowsMessage<AotError>(HasSubstr("partition t: the nodes do not form one contained")));
}

// Each is convex, but they wait for each other.
TEST(ToBackend, PartitionsThatWaitForEachOtherAreRefused) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.relu.default", {x});
  Node* after_a = b.call("aten.abs.default", {a});
  Node* after_c = b.call("aten.abs.default", {c});
  b.returns(after_a);
  b.returns(after_c);
  ExportedProgram& program = b.finish();
  EXPECT_THAT(
      [&] {
        to_backend(program, tagging({{"aten_relu_default", "t"},
                                     {"aten_abs_default_1", "t"},
                                     {"aten_relu_default_1", "u"},
                                     {"aten_abs_default", "u"}}));
      },
      ThrowsMessage<AotError>(HasSubstr("partition u: the nodes do not form one contained")));
}

TEST(ToBackend, SeveralBackendsInOneProgram) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.abs.default", {a});
  b.returns(b.call("aten.relu.default", {c}));
  ExportedProgram& program = b.finish();
  const test::FunctionPartitioner two([](ExportedProgram& each) {
    PartitionResult result;
    const auto backend = [](const char* id) { return std::make_shared<test::NamedBackend>(id); };
    each.graph->find("aten_relu_default")->meta.delegation_tag = "a";
    each.graph->find("aten_abs_default")->meta.delegation_tag = "b";
    result.tags["a"] = {backend("First"), {}};
    result.tags["b"] = {backend("Second"), {}};
    result.tags["nothing"] = {backend("Third"), {}};  // no nodes: skipped
    return result;
  });
  to_backend(program, two);
  EXPECT_EQ(module(program, "lowered_module_0").backend_id, "First");
  EXPECT_EQ(module(program, "lowered_module_1").backend_id, "Second");
  EXPECT_THAT(get_lowered_backend_modules(*program.graph), SizeIs(2));
}

TEST(ToBackend, PartitionersComeInOrderAndRejectionsOfWhatIsTakenGo) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.abs.default", {a});
  Node* d = b.call("aten.erf.default", {c});
  b.returns(d);
  ExportedProgram& program = b.finish();
  const auto taking = [](const char* taken, const char* id) {
    return std::make_shared<const test::FunctionPartitioner>([taken, id](ExportedProgram& each) {
      PartitionResult result;
      for (Node& node : each.graph->nodes()) {
        if (!node.is_call() || node.target().dialect() != Dialect::kEdge) continue;
        if (node.target().is(taken)) {
          node.meta.delegation_tag = "tag0";
        } else {
          result.rejections.push_back({std::string("not by ") + id, "", &node});
        }
      }
      result.tags["tag0"] = {std::make_shared<test::NamedBackend>(id), {}};
      return result;
    });
  };
  const std::vector<std::shared_ptr<const Partitioner>> partitioners = {
      taking("aten.relu.default", "First"), taking("aten.abs.default", "Second")};
  const std::vector<Rejection> rejections = to_backend(program, partitioners);
  ASSERT_THAT(rejections, SizeIs(2));
  EXPECT_EQ(rejections[0].node, d);
  EXPECT_EQ(rejections[0].rule, "not by First");
  EXPECT_EQ(rejections[1].node, d);
  EXPECT_EQ(rejections[1].rule, "not by Second");
  EXPECT_EQ(module(program, "lowered_module_0").backend_id, "First");
  EXPECT_EQ(module(program, "lowered_module_1").backend_id, "Second");
}

// One branch holds another cond.
TEST(ToBackend, BranchesOfControlFlowAreLoweredWithoutWeights) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  const auto branch = [&](const char* op) {
    auto graph = std::make_unique<Graph>();
    Node* value = graph->placeholder("value");
    Node* weight = graph->placeholder("p");  // has the name of the program's own
    value->meta.value = weight->meta.value = ProgramBuilder::spec();
    Node* sum = b.call_in(*graph, op, {value, weight});
    graph->set_output(Argument::tuple({sum}));
    return graph;
  };
  auto outer = branch("aten.add.Tensor");
  outer->subgraphs()["inner"] = branch("aten.mul.Tensor");
  Graph& graph = *b.program.graph;
  graph.subgraphs()["outer"] = std::move(outer);
  Node* attribute = graph.get_attr("outer");
  Node* cond = graph.call(Target::of("cond", Dialect::kHigherOrder),
                          {true, attribute, attribute, Argument::list({x, p})});
  cond->meta.value = Value::Items{Value(ProgramBuilder::spec())};
  Node* item = graph.call(getitem(), {cond, 0});
  item->meta.value = ProgramBuilder::spec();
  b.returns(item);
  ExportedProgram& program = b.finish();
  const test::FunctionPartitioner all([](ExportedProgram& each) {
    PartitionResult result;
    result.tags["tag0"] = {std::make_shared<test::NamedBackend>("Named"), {}};
    Graph& first = *each.graph->subgraphs().at("outer");
    first.find("aten_add_tensor")->meta.delegation_tag = "tag0";
    first.subgraphs().at("inner")->find("aten_mul_tensor")->meta.delegation_tag = "tag0";
    return result;
  });
  to_backend(program, all);
  EXPECT_THAT(program.graph->lowered_modules(), IsEmpty());
  EXPECT_THAT(input_names(program), ElementsAre("p", "x"));
  Graph& first = *program.graph->subgraphs().at("outer");
  for (Graph* each : {&first, first.subgraphs().at("inner").get()}) {
    const std::vector<LoweredSubmodule> lowered = get_lowered_submodules(*each);
    ASSERT_THAT(lowered, SizeIs(1));
    EXPECT_EQ(lowered[0].name, "lowered_module_0");
    EXPECT_EQ(lowered[0].call->args().size(), 3U);
    for (const InputSpec& spec : lowered[0].module->original.signature.inputs) {
      EXPECT_EQ(spec.kind, InputSpec::Kind::kUserInput);
    }
    EXPECT_EQ(lowered[0].call->meta.debug_handle, 1U);  // the program's own graph has no tags
  }
}

TEST(ToBackend, TagsAreServedByTheirNumbers) {
  ProgramBuilder b;
  Node* x = b.input("x");
  std::map<std::string, std::string> tags;
  Node* value = x;
  for (int i = 0; i < 12; ++i) {
    value = b.call("aten.relu.default", {value});
    tags[value->name()] = "tag" + std::to_string(i);
    value = b.call("aten.erf.default", {value});
  }
  b.returns(value);
  ExportedProgram& program = b.finish();
  to_backend(program, tagging(tags));
  // The result of the delegate of tag<n> is getitem_<n>.
  const std::vector<LoweredSubmodule> lowered = get_lowered_submodules(*program.graph);
  ASSERT_THAT(lowered, SizeIs(12));
  EXPECT_EQ(lowered[2].call->users()[0]->name(), "getitem_2");
  EXPECT_EQ(lowered[10].call->users()[0]->name(), "getitem_10");
}

TEST(LoweredModules, CopiesAreTheirOwn) {
  ProgramBuilder b;
  b.returns(b.call("aten.relu.default", {b.input("x")}));
  const auto lowered = to_backend(test::NamedBackend("Named"), b.finish());
  LoweredBackendModule copied = copy(*lowered);
  copied.original.graph->find("aten_relu_default")->meta.debug_handle = 77;
  EXPECT_EQ(lowered->original.graph->find("aten_relu_default")->meta.debug_handle, 1U);
  EXPECT_EQ(copied.processed_bytes, lowered->processed_bytes);
  EXPECT_EQ(copied.backend_id, "Named");
}

TEST(LoweredModules, OneModuleMakesAProgram) {
  ProgramBuilder b;
  Node* state = b.buffer("b_state");
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  Node* sum = b.call("aten.add.Tensor", {state, p});
  Node* relu = b.call("aten.relu.default", {x});
  b.mutates(state, sum);
  b.returns(relu);
  b.returns(sum);
  ExportedProgram& whole = b.finish();
  const ExportedProgram program = delegate_program(to_backend(test::NamedBackend("Named"), whole));
  lint(program);
  EXPECT_EQ(format_graph(*program.graph),
            "graph():\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %lowered_module_0 : [num_users=1] = get_attr[target=lowered_module_0]\n"
            "    %executorch_call_delegate : [num_users=2] = "
            "call_function[target=torch.ops.higher_order.executorch_call_delegate](args = "
            "(%lowered_module_0, %x), kwargs = {})\n"
            "    %getitem : [num_users=1] = call_function[target=operator.getitem](args = "
            "(%executorch_call_delegate, 0), kwargs = {})\n"
            "    %getitem_1 : [num_users=1] = call_function[target=operator.getitem](args = "
            "(%executorch_call_delegate, 1), kwargs = {})\n"
            "    return (getitem, getitem_1)");
  EXPECT_THAT(program.state_dict, IsEmpty());
  EXPECT_EQ(program.graph->find("executorch_call_delegate")->meta.debug_handle, 3U);
}

TEST(LoweredModules, LintKnowsTheirCalls) {
  ProgramBuilder b;
  Node* x = b.input("x");
  b.returns(b.call("aten.relu.default", {x}));
  ExportedProgram program = delegate_program(to_backend(test::NamedBackend("N"), b.finish()));
  EXPECT_NO_THROW(lint(program.copy()));
  Node* call = program.graph->find("executorch_call_delegate");
  const ArgumentList args = call->args();
  call->set_args({args[0], args[1], args[1]});
  EXPECT_THAT([&] { lint(program); },
              ThrowsMessage<AotError>(HasSubstr("passes 2 inputs to lowered_module_0")));
  call->set_args({args[1], args[1]});
  EXPECT_THAT([&] { lint(program); },
              ThrowsMessage<AotError>(HasSubstr("the first argument is not a lowered module")));
  call->set_args(args);
  call->meta.value = Value::Items{};
  EXPECT_THAT([&] { lint(program); },
              ThrowsMessage<AotError>(HasSubstr("not a tuple of lowered_module_0's 1 results")));
}

}  // namespace
}  // namespace vitrine::aot
