// Compares payloads with those in ExecuTorch's own programs, and their results with PyTorch's.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <optional>
#include <regex>
#include <set>

#include "aot/graph/aot_error.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/to_backend.h"
#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "runtime/program/program_access.h"
#include "test/backends/xnnpack/aot/corpus_cases.h"
#include "test/backends/xnnpack/aot/named_data_view.h"
#include "test/backends/xnnpack/aot/payload_text.h"
#include "test/corpus_check/case_file.h"
#include "test/corpus_check/comparison.h"
#include "test/support/corpus.h"
#include "test/support/file_bytes.h"
#include "test/support/tensor_factory.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"
#include "vitrine/program.h"

namespace vitrine::aot::test {
namespace {

struct LoweredCase {
  ExportedProgram program;
  std::vector<std::shared_ptr<const LoweredBackendModule>> modules;
};

// Lowers a case. Returns nothing if an operator has no decomposition; other errors fail the test.
std::optional<LoweredCase> lower(const XnnpackCase& each) {
  try {
    const auto partitioners = partitioners_of(each);
    LoweredCase made{edge_program(each, partitioners), {}};
    to_backend(made.program, partitioners);
    made.modules = get_lowered_backend_modules(*made.program.graph);
    return made;
  } catch (const AotError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no decomposition"));
    return std::nullopt;
  }
}

// Removes the parts of a line that may differ from ExecuTorch's: the numbers of the delegate's
// arguments, and the dims of dynamically quantized images, which ExecuTorch writes in another
// order.
std::string comparable(std::string line) {
  line = std::regex_replace(line, std::regex("\\((in|out)[0-9]+"), "($1");
  const size_t at = line.find("qdint8[");
  if (at != std::string::npos) line.erase(at, line.find(']', at) - at);
  return line;
}

class IdentifierTracer final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord& record) override {
    if (record.kind == TraceRecord::Kind::kDelegateOperator && record.name == nullptr)
      identifiers.insert(record.delegate_debug_id);
  }
  std::set<int64_t> identifiers;
};

TEST(XnnpackPayloadCorpus, PayloadsHaveTheSameNodesAsExecuTorch) {
  const std::vector<XnnpackCase> cases = xnnpack_cases();
  VITRINE_NEEDS_CORPUS();
  size_t num_equal = 0;
  size_t num_payloads = 0;
  size_t num_unsupported = 0;
  for (const XnnpackCase& each : cases) {
    SCOPED_TRACE(each.exported.string());
    const auto written =
        tools::check(Program::load(tools::check(map_file((each.folder / "model.pte").c_str()))));
    const std::optional<LoweredCase> made = lower(each);
    if (!made) {
      ++num_unsupported;
      continue;
    }
    for (const auto* plan : *ProgramAccess::root(*written).execution_plan()) {
      if (plan->name()->str() != each.method) continue;
      ASSERT_EQ(plan->delegates()->size(), made->modules.size());
      for (uint32_t i = 0; i < made->modules.size(); ++i) {
        SCOPED_TRACE(i);
        const DataBuffer payload =
            tools::check(ProgramAccess::payload(*written, *plan->delegates()->Get(i)->processed()));
        const PayloadText expected = describe_payload(payload.bytes());
        const PayloadText found = describe_payload(*made->modules[i]->payload);
        // ExecuTorch replaces the tanh approximation of gelu with the exact function, so the
        // payloads differ.
        if (each.folder.filename() == "gelu__tanh") continue;
        ++num_payloads;
        bool is_equal = found.nodes.size() == expected.nodes.size();
        EXPECT_EQ(found.nodes.size(), expected.nodes.size());
        for (size_t k = 0; k < std::min(found.nodes.size(), expected.nodes.size()); ++k) {
          if (comparable(found.nodes[k]) != comparable(expected.nodes[k])) {
            ADD_FAILURE() << k << "\n  " << found.nodes[k] << ", not\n  " << expected.nodes[k];
            is_equal = false;
            break;
          }
          // Two kinds of handles are not compared. ExecuTorch writes 65535 (no handle) for some
          // nodes that have source nodes. In kv_cache_xnnpack, torch repeats the views of a mutated
          // buffer before each call that uses them, and gives them the debug handle of that call.
          if (expected.handles[k] == 65535 || each.folder.filename() == "kv_cache_xnnpack")
            continue;
          EXPECT_EQ(found.handles[k], expected.handles[k]) << found.nodes[k];
        }
        num_equal += is_equal ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(num_equal, num_payloads);
  std::printf(
      "%zu of %zu payloads have ExecuTorch's nodes; %zu programs have unsupported operators\n",
      num_equal, num_payloads, num_unsupported);
}

// The keys of a delegate map contain the handle of each payload node. Its values contain the debug
// handle of each source call.
TEST(XnnpackPayloadCorpus, DelegateMapsContainEveryNode) {
  const std::vector<XnnpackCase> cases = xnnpack_cases();
  VITRINE_NEEDS_CORPUS();
  for (const XnnpackCase& each : cases) {
    SCOPED_TRACE(each.exported.string());
    const std::optional<LoweredCase> made = lower(each);
    if (!made) continue;
    for (const auto& module : made->modules) {
      std::set<uint32_t> mapped;
      std::set<uint32_t> identifiers;
      for (const auto& [identifier, handles] : module->delegate_map) {
        identifiers.insert(std::get<uint32_t>(identifier));
        mapped.insert(handles.begin(), handles.end());
        EXPECT_TRUE(std::ranges::is_sorted(handles));
      }
      for (const uint32_t handle : describe_payload(*module->payload).handles) {
        EXPECT_TRUE(identifiers.contains(handle)) << handle;
      }
      for (const Node& node : module->original.graph->nodes()) {
        if (node.is_call()) {
          EXPECT_TRUE(mapped.contains(node.meta.debug_handle)) << node.name();
        }
      }
    }
  }
}

// Runs the delegate of a program that consists of a single delegate. The arguments of the delegate
// are the program's inputs and constants.
class Runner {
 public:
  explicit Runner(const XnnpackCase& each) : case_(each) {}

  // Returns an empty string if all outputs are as expected, otherwise the reason for the failure.
  std::string run(bool& ran) {
    ran = false;
    const std::optional<LoweredCase> made = lower(case_);
    if (!made || made->modules.size() != 1) return "";
    const ExportedProgram& program = made->program;
    const auto& modules = made->modules;
    for (const Node& node : program.graph->nodes()) {
      if (node.is_call() && !node.calls(getitem()) && !node.calls(call_delegate())) return "";
    }
    const NamedDataView keys(modules[0]->named_data);
    BackendInitContext context;
    context.named_data = &keys;
    IdentifierTracer tracer;
    context.tracer = &tracer;
    vitrine::XnnpackBackend backend;
    Result<std::unique_ptr<Delegate>> loaded = backend.init(context, *modules[0]->payload, {});
    if (!loaded.ok()) return loaded.error().message();
    const corpus::Case about = corpus::read_case(case_.folder);
    for (const corpus::CaseCall& call : about.calls) {
      if (call.method != case_.method) continue;
      ran = true;
      std::string failure = run_call(program, **loaded, call, about.tolerance, tracer);
      if (!failure.empty()) return failure;
    }
    for (const int64_t identifier : tracer.identifiers) {
      const bool is_known = std::ranges::any_of(modules[0]->delegate_map, [&](const auto& entry) {
        return std::get<uint32_t>(entry.first) == identifier;
      });
      if (!is_known) return fmt::format("the delegate map does not contain {}", identifier);
    }
    return tracer.identifiers.empty() ? "the delegate logged no operators" : "";
  }

 private:
  std::string run_call(const ExportedProgram& program, Delegate& delegate,
                       const corpus::CaseCall& call, const corpus::Tolerance& tolerance,
                       EventTracer& tracer) {
    const Node* node = nullptr;
    for (const Node& each : program.graph->nodes()) {
      if (each.calls(call_delegate())) node = &each;
    }
    std::vector<Array> arrays;
    std::vector<EValue> values;
    const auto add = [&](ScalarType dtype, std::span<const int32_t> sizes,
                         std::span<const uint8_t> order) -> Array& {
      return arrays.emplace_back(tools::check(Array::zeros(dtype, sizes, order)));
    };
    for (size_t i = 1; i < node->args().size(); ++i) {
      const Node& input = *node->args()[i].node();
      const InputSpec& spec = *program.input_of(input.name());
      if (const TensorData* data = program.data_of(spec)) {
        const std::vector<int32_t> sizes(data->sizes.begin(), data->sizes.end());
        tools::check(add(data->dtype, sizes, {}).copy_from(row_major_bytes(*data)));
        continue;
      }
      const corpus::CaseValue& given = call.inputs.at(index_of_user_input(program, spec));
      tools::check(add(given.dtype, given.sizes, given.dim_order)
                       .copy_from(::vitrine::test::read_file_bytes(given.file)));
    }
    // The getitem call with index k returns output k of the delegate.
    const size_t first_output = arrays.size();
    const size_t count = node->meta.value.items()->size();
    std::vector<size_t> output_of(count, SIZE_MAX);
    const ArgumentList& results = *program.graph->output()->args()[0].list();
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].node() == nullptr || !results[i].node()->calls(getitem())) continue;
      output_of.at(static_cast<size_t>(*results[i].node()->args()[1].get<int64_t>())) = i;
    }
    for (size_t k = 0; k < count; ++k) {
      const corpus::CaseValue& wanted = call.outputs.at(output_of[k]);
      // The dim order comes from the program, because PyTorch's result may be a view in another dim
      // order.
      const TensorSpec& spec = *node->meta.value.items()->at(k).tensor();
      add(wanted.dtype, wanted.sizes, kept_dim_order(spec));
    }
    for (Array& array : arrays) values.emplace_back(&array.mutable_tensor());
    std::vector<EValue*> arguments;
    for (EValue& value : values) arguments.push_back(&value);
    const Error error = delegate.execute({.tracer = &tracer}, arguments);
    if (!error.ok()) return error.message();
    for (size_t k = 0; k < count; ++k) {
      const corpus::CaseValue& wanted = call.outputs[output_of[k]];
      const corpus::Comparison comparison =
          corpus::compare(tools::row_major_bytes(arrays[first_output + k].tensor()),
                          ::vitrine::test::read_file_bytes(wanted.file), wanted.dtype, tolerance);
      if (!comparison.failure.empty()) return comparison.failure;
    }
    return "";
  }

  static size_t index_of_user_input(const ExportedProgram& program, const InputSpec& spec) {
    const auto& inputs = program.signature.inputs;
    const auto end = std::ranges::find(inputs, spec.name, &InputSpec::name);
    return static_cast<size_t>(
        std::ranges::count(inputs.begin(), end, InputSpec::Kind::kUserInput, &InputSpec::kind));
  }

  const XnnpackCase& case_;
};

TEST(XnnpackPayloadCorpus, ResultsMatchPyTorch) {
  const std::vector<XnnpackCase> cases = xnnpack_cases();
  VITRINE_NEEDS_CORPUS();
  size_t count = 0;
  for (const XnnpackCase& each : cases) {
    SCOPED_TRACE(each.exported.string());
    bool ran = false;
    EXPECT_EQ(Runner(each).run(ran), "");
    count += ran ? 1 : 0;
  }
  std::printf("%zu programs that consist of one delegate ran\n", count);
  EXPECT_GE(count, 120U);
}

}  // namespace
}  // namespace vitrine::aot::test
