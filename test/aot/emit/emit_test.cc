// Tests emission on small graphs.
#include "aot/emit/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "aot/graph/aot_error.h"
#include "aot/lowering/to_backend.h"
#include "formats/etrecord/embedded_record.h"
#include "formats/etrecord/etrecord.h"
#include "schema/program_generated.h"
#include "test/aot/lowering/program_builder.h"
#include "test/support/file_bytes.h"
#include "test/support/results.h"
#include "vitrine/flat_tensor.h"
#include "vitrine/program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fbs = schema::program;

TensorData numbers(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor_data(ScalarType::kFloat, {static_cast<int64_t>(values.size())},
                          std::move(bytes));
}

// Returns a program that calls an operator with the input x, followed by the arguments `rest`.
ExportedProgram calling(const char* op, ArgumentList rest = {}, std::vector<SymInt> sizes = {3}) {
  test::ProgramBuilder b;
  rest.insert(rest.begin(), b.input("x", contiguous_spec(ScalarType::kFloat, std::move(sizes))));
  return std::move(b.finish({b.call(op, std::move(rest))}));
}

// relu(x + weight)
ExportedProgram small_program() {
  test::ProgramBuilder b;
  Node* weight = b.parameter("weight");
  Node* sum = b.call("aten.add.Tensor", {b.input("x"), weight});
  return std::move(b.finish({b.call("aten.relu.default", {sum})}));
}

Methods methods_of(ExportedProgram program) {
  Methods methods;
  methods.emplace("forward", std::move(program));
  return methods;
}

vitrine::test::AlignedBytes aligned(const std::vector<std::byte>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string error_of(const Methods& methods, const EmitOptions& options = {}) {
  return vitrine::test::thrown<AotError>([&] { emit(methods, options); });
}

const fbs::Program& root(const std::vector<std::byte>& pte) { return *fbs::GetProgram(pte.data()); }

TEST(EmitTest, EqualMethodsProduceEqualPrograms) {
  EXPECT_EQ(emit(methods_of(small_program())).pte, emit(methods_of(small_program())).pte);
}

TEST(EmitTest, HeaderHasOffsetAndSizeOfSegments) {
  EmitOptions options;
  options.segment_alignment = 4096;
  options.constant_tensor_alignment = 256;
  const std::vector<std::byte> pte = emit(methods_of(small_program()), options).pte;
  const auto number = [&](size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, pte.data() + at, sizeof value);
    return value;
  };
  EXPECT_EQ(std::memcmp(pte.data() + 4, "ET12eh00", 8), 0);
  EXPECT_EQ(number(12) & 0xffffffffU, 32U);
  EXPECT_EQ(number(24), 4096U);
  EXPECT_LE(number(16), number(24));
  EXPECT_EQ(number(24) + number(32), pte.size());
  for (const auto* segment : *root(pte).segments()) EXPECT_EQ(segment->offset() % 4096, 0U);
  // The header is padded to 256 bytes, so that the content after it stays aligned. The root table
  // follows.
  uint32_t offset = 0;
  std::memcpy(&offset, pte.data(), sizeof offset);
  EXPECT_GT(offset, 8U + 256U);
}

TEST(EmitTest, OmitsHeaderIfSegmentsAreEmpty) {
  EmitOptions options;
  options.emit_debug_maps = false;
  const std::vector<std::byte> pte = emit(methods_of(calling("aten.relu.default")), options).pte;
  EXPECT_NE(std::memcmp(pte.data() + 8, "eh00", 4), 0);
  EXPECT_EQ(root(pte).segments()->size(), 1U);
  EXPECT_EQ(root(pte).segments()->Get(0)->size(), 0U);
}

TEST(EmitTest, MethodsShareEqualConstants) {
  Methods methods;
  methods.emplace("decode", small_program());
  methods.emplace("encode", small_program());
  const EmittedProgram emitted = emit(methods);
  const fbs::Program& program = root(emitted.pte);
  EXPECT_EQ(program.constant_segment()->offsets()->size(), 2U);
  ASSERT_EQ(program.execution_plan()->size(), 2U);
  EXPECT_EQ(program.execution_plan()->Get(0)->name()->str(), "decode");
}

std::vector<std::string> keys_of(const std::vector<std::byte>& ptd) {
  const vitrine::test::AlignedBytes bytes = aligned(ptd);
  const auto map = load_flat_tensor(*view_buffer(bytes));
  EXPECT_TRUE(map.ok()) << map.error().message();
  std::vector<std::string> keys;
  for (size_t i = 0; i < (*map)->size(); ++i) keys.emplace_back((*map)->key(i));
  return keys;
}

TEST(EmitTest, WritesExternalConstantsToPtdFile) {
  EmitOptions options;
  options.external_constants = true;
  const EmittedProgram emitted = emit(methods_of(small_program()), options);
  ASSERT_EQ(emitted.ptd.size(), 1U);
  EXPECT_THAT(keys_of(emitted.ptd.begin()->second), ElementsAre("of.weight"));
  EXPECT_EQ(root(emitted.pte).constant_segment()->offsets()->size(), 1U);
}

// Returns a program that computes x + weight + constant + number. `constant` gets the name
// _prop_tensor_constant0, and `number` gets the name _lifted_tensor_constant1.
ExportedProgram lifted_program(std::vector<float> weight, std::vector<float> constant,
                               float number) {
  test::ProgramBuilder b;
  Node* w = b.parameter("weight", numbers(weight));
  Node* sum = b.call("aten.add.Tensor", {b.input("x", *w->tensor()), w});
  Node* added = b.program.add_constant("_prop_tensor_constant0", numbers(constant));
  sum = b.call("aten.add.Tensor", {sum, added});
  Node* lifted = b.program.add_constant("_lifted_tensor_constant1", numbers({number}));
  auto& inputs = b.program.signature.inputs;
  std::ranges::find(inputs, lifted->name(), &InputSpec::name)->is_lifted_number = true;
  return std::move(b.finish({b.call("aten.add.Tensor", {sum, lifted})}));
}

TEST(EmitTest, RenamesDifferentExternalConstantsWithTheSameName) {
  Methods methods;
  methods.emplace("get", lifted_program({1, 2}, {3, 4}, 5));
  methods.emplace("put", lifted_program({1, 2}, {3, 4}, 6));
  methods.emplace("set", lifted_program({1, 2}, {3, 7}, 6));
  EmitOptions options;
  options.external_constants = true;
  const EmittedProgram emitted = emit(methods, options);
  EXPECT_THAT(keys_of(emitted.ptd.at("_default_external_constant")),
              testing::UnorderedElementsAre("of.weight", "_prop_tensor_constant0",
                                            "_prop_tensor_constant0@set"));
  // Entry 0 is for tensors without data. The other two entries are the lifted numbers 5 and 6.
  EXPECT_EQ(root(emitted.pte).constant_segment()->offsets()->size(), 3U);
}

TEST(EmitTest, RejectsDifferentExternalWeightsWithTheSameName) {
  EmitOptions options;
  options.external_constants = true;
  const auto expect_rejected = [&](std::vector<float> other) {
    Methods methods;
    methods.emplace("get", lifted_program({1, 2}, {3, 4}, 5));
    methods.emplace("set", lifted_program(std::move(other), {3, 4}, 5));
    EXPECT_EQ(error_of(methods), "");
    EXPECT_EQ(error_of(methods, options),
              "method set: weight of.weight differs from the weight of the same name in method "
              "get, but a .ptd file stores one weight per name");
  };
  expect_rejected({1, 3});
  expect_rejected({1});
}

ExportedProgram counter(std::vector<float> state) {
  test::ProgramBuilder b;
  Node* buffer = b.buffer("state", numbers(state));
  Node* sum = b.call("aten.add.Tensor", {buffer, b.input("x", *buffer->tensor())});
  b.mutates(buffer, b.call("aten.copy_.default", {buffer, sum}));
  return std::move(b.finish({sum}));
}

TEST(EmitTest, StoresNonzeroInitialStateOfBuffers) {
  EXPECT_EQ(root(emit(methods_of(counter({0, 0}))).pte).mutable_data_segments(), nullptr);
  const EmittedProgram emitted = emit(methods_of(counter({0, 5})));
  const auto* states = root(emitted.pte).mutable_data_segments();
  ASSERT_NE(states, nullptr);
  EXPECT_EQ(states->Get(0)->offsets()->size(), 2U);
  // The graph also returns the buffer's new value, but this value is not an output of the method.
  EXPECT_EQ(root(emitted.pte).execution_plan()->Get(0)->outputs()->size(), 1U);
}

TEST(EmitTest, StoresUpperBoundsOfDynamicSizes) {
  ExportedProgram program = calling("aten.relu.default", {}, {SymInt(Expression::symbol("s0")), 3});
  program.range_constraints["s0"] = {1, 8};
  const EmittedProgram emitted = emit(methods_of(std::move(program)));
  const auto* value = root(emitted.pte).execution_plan()->Get(0)->values()->Get(0);
  const fbs::Tensor* tensor = value->val_as_Tensor();
  EXPECT_THAT(std::vector<int32_t>(tensor->sizes()->begin(), tensor->sizes()->end()),
              ElementsAre(8, 3));
  EXPECT_EQ(tensor->shape_dynamism(), fbs::TensorShapeDynamism::DYNAMIC_BOUND);
}

TEST(EmitTest, RejectsUnboundedSizesAndUnsupportedHigherOrderOperators) {
  ExportedProgram unbounded = calling("aten.relu.default", {}, {SymInt(Expression::symbol("s0"))});
  unbounded.range_constraints["s0"] = {1, std::nullopt};
  EXPECT_THAT(error_of(methods_of(std::move(unbounded))),
              testing::AllOf(HasSubstr("node x"), HasSubstr("s0 has no upper bound")));
  test::ProgramBuilder b;
  Node* x = b.input("x");
  Node* loop = b.program.graph->call(Target::of("flex_attention", Dialect::kHigherOrder), {x});
  loop->meta.value = x->meta.value;
  EXPECT_THAT(
      error_of(methods_of(std::move(b.finish({loop})))),
      testing::AllOf(HasSubstr("node flex_attention"), HasSubstr("cond, map, scan or while_loop")));
}

TEST(EmitTest, ErrorsNameMethodNodeAndSourceLine) {
  ExportedProgram program = calling("aten.no_such_op.default");
  auto origin = std::make_shared<Origin>();
  origin->stack_trace = "File \"/home/me/model.py\", line 12, in forward\n    y = no_such(x)";
  program.graph->find("aten_no_such_op_default")->meta.origin = origin;
  EXPECT_THAT(error_of(methods_of(std::move(program))),
              HasSubstr("method forward: node aten_no_such_op_default (aten.no_such_op.default), "
                        "model.py:12: "));
}

TEST(EmitTest, RejectsInvalidProgramsAndAlignments) {
  EXPECT_THAT(error_of(methods_of(calling("aten.relu.default", {1}))),
              HasSubstr("has 2 positional arguments"));
  EmitOptions options;
  options.segment_alignment = 100;
  EXPECT_THAT(error_of(methods_of(small_program()), options), HasSubstr("segment alignment 100"));
  options.segment_alignment = 0;
  EXPECT_THAT(error_of(methods_of(small_program()), options), HasSubstr("segment alignment 0"));
  options = {};
  options.constant_tensor_alignment = 3;
  EXPECT_THAT(error_of(methods_of(small_program()), options), HasSubstr("constant tensor"));
  EXPECT_THAT(error_of({}), HasSubstr("method"));
}

// cond(p, relu, relu)(x)
ExportedProgram conditional_program() {
  test::ProgramBuilder b;
  Graph& graph = *b.program.graph;
  Node* p = b.input("p", contiguous_spec(ScalarType::kBool, {}));
  Node* x = b.input("x", contiguous_spec(ScalarType::kFloat, {64}));
  for (const char* name : {"yes", "no"}) {
    auto branch = std::make_unique<Graph>();
    Node* operand = branch->placeholder("operand");
    operand->meta.value = x->meta.value;
    branch->set_output(Argument::tuple({b.call_in(*branch, "aten.relu.default", {operand})}));
    graph.subgraphs()[name] = std::move(branch);
  }
  Node* yes = graph.get_attr("yes");
  Node* no = graph.get_attr("no");
  Node* chosen =
      graph.call(Target::of("cond", Dialect::kHigherOrder), {p, yes, no, Argument::tuple({x})});
  chosen->meta.value = Value::Items{x->meta.value};
  Node* item = graph.call(getitem(), {chosen, 0});
  item->meta.value = x->meta.value;
  return std::move(b.finish({item}));
}

TEST(EmitTest, BranchesShareMemory) {
  EmitOptions options;
  options.emit_debug_maps = false;
  const EmittedProgram emitted = emit(methods_of(conditional_program()), options);
  const auto* plan = root(emitted.pte).execution_plan()->Get(0);
  // Three tensors need 256 bytes each: a branch's result, the input, and the result of cond. The
  // predicate needs another 16 bytes.
  EXPECT_EQ(plan->non_const_buffer_sizes()->Get(1), 3 * 256 + 16);
  ASSERT_EQ(plan->chains()->Get(0)->instructions()->size(), 6U);
  const auto* jump = plan->chains()->Get(0)->instructions()->Get(0)->instr_args_as_JumpFalseCall();
  ASSERT_NE(jump, nullptr);
  EXPECT_EQ(jump->destination_instruction(), 4);
}

// The inputs of delegates in branches are in the memory of the outer graph.
TEST(EmitTest, PadsMemoryForDelegatesInBranches) {
  const auto planned = [](uint64_t padding) {
    ExportedProgram program = conditional_program();
    to_backend(program, test::tagging({{"aten_relu_default", "tag"}},
                                      std::make_shared<test::NamedBackend>("Padded", padding)));
    return emit(methods_of(std::move(program))).debug_info.at("forward").planned_bytes;
  };
  // Padding is added twice: after the memory of the branches and after the memory of the outer
  // graph.
  EXPECT_EQ(planned(48), planned(0) + 2 * 48);
}

// x (16 bytes) -> delegate -> erf -> delegate. Each delegate asks for two scratch buffers, of 500
// and 32 bytes.
TEST(EmitTest, DelegateCallsShareScratchMemory) {
  const auto emitted_with = [](const std::vector<uint64_t>& sizes) {
    test::ProgramBuilder b;
    Node* x = b.input("x");
    Node* first = b.call("aten.relu.default", {x});
    Node* erf = b.call("aten.erf.default", {first});
    to_backend(b.finish({b.call("aten.relu.default", {erf})}),
               test::tagging({{"aten_relu_default", "t0"}, {"aten_relu_default_1", "t1"}},
                             std::make_shared<test::NamedBackend>("Named", 0, sizes)));
    return emit(methods_of(std::move(b.program)));
  };
  const EmittedProgram emitted = emitted_with({500, 32});
  const auto* plan = root(emitted.pte).execution_plan()->Get(0);
  const auto* instructions = plan->chains()->Get(0)->instructions();
  ASSERT_EQ(instructions->size(), 3U);
  for (const uint32_t at : {0U, 2U}) {
    const auto* call = instructions->Get(at)->instr_args_as_DelegateCall();
    ASSERT_NE(call, nullptr);
    ASSERT_EQ(call->scratch()->size(), 2U);
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const auto* scratch : *call->scratch()) {
      EXPECT_EQ(scratch->allocation()->memory_id(), 1U);
      EXPECT_EQ(scratch->allocation()->memory_offset_low() % 16, 0U);
      ranges.emplace_back(scratch->allocation()->memory_offset_low(), scratch->size());
    }
    EXPECT_EQ(ranges[0].second, 500U);
    EXPECT_EQ(ranges[1].second, 32U);
    for (const int32_t argument : *call->args()) {
      const auto* tensor = plan->values()->Get(static_cast<uint32_t>(argument))->val_as_Tensor();
      ranges.emplace_back(tensor->allocation_info()->memory_offset_low(), 16);
    }
    std::ranges::sort(ranges);
    for (size_t i = 1; i < ranges.size(); ++i) {
      EXPECT_LE(ranges[i - 1].first + ranges[i - 1].second, ranges[i].first);
    }
    EXPECT_LE(ranges.back().first + ranges.back().second,
              static_cast<uint64_t>(plan->non_const_buffer_sizes()->Get(1)));
  }
  // Both calls use the same scratch memory of 512 + 32 bytes. Two tensors need another 16 bytes
  // each.
  EXPECT_EQ(plan->non_const_buffer_sizes()->Get(1), 512 + 32 + 2 * 16);
  EXPECT_THROW(emitted_with({0}), AotError);
  EXPECT_THROW(emitted_with({UINT64_MAX}), AotError);
}

TEST(EmitTest, EmbeddedRecordMapsInstructionsToNodes) {
  ExportedProgram small = small_program();
  small.graph->find("aten_relu_default")->meta.debug_handle = 7;  // not the number of the call
  const EmittedProgram emitted = emit(methods_of(std::move(small)));
  const vitrine::test::AlignedBytes bytes = aligned(emitted.pte);
  const auto program = Program::load(*view_buffer(bytes));
  ASSERT_TRUE(program.ok()) << program.error().message();
  const auto data = (*program)->named_data().get(etrecord::kEmbeddedRecordKey);
  ASSERT_TRUE(data.ok());
  const etrecord::EtRecord record = etrecord::parse_etrecord((*data).bytes());
  const etrecord::MethodRecord& method = record.methods.at("forward");
  ASSERT_EQ(method.graph.nodes.size(), 2U);
  EXPECT_EQ(method.graph.nodes[0].target, "aten.add.Tensor");
  EXPECT_EQ(method.graph.nodes[1].inputs, std::vector<size_t>{0});
  EXPECT_EQ(method.handles_of_instruction.at(1).at(0), method.graph.nodes[1].debug_handle);
  EmitOptions without;
  without.emit_debug_maps = false;
  EXPECT_EQ(root(emit(methods_of(small_program()), without).pte).named_data(), nullptr);
}

// A writer could omit -0.0 by mistake, because -0.0 compares equal to 0.0, the format's default.
TEST(EmitTest, KeepsSignOfNegativeZero) {
  const EmittedProgram emitted = emit(methods_of(calling("aten.add.Scalar", {-0.0})));
  int found = 0;
  for (const auto* value : *root(emitted.pte).execution_plan()->Get(0)->values()) {
    const auto* number = value->val_as_Double();
    found += number != nullptr && std::signbit(number->double_val()) ? 1 : 0;
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace vitrine::aot
