#include "tools/common/delegate_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/identifiers.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "base/format_error.h"
#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "runtime/executor/load_steps.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "tools/common/backends.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;

constexpr size_t kShownKinds = 8;
constexpr size_t kMaxLines = 32;

using Counts = std::map<std::string, size_t>;

// Formats names with their counts, the most frequent first.
std::string counts_text(const Counts& counts) {
  std::vector<std::pair<std::string, size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == kShownKinds) return text + fmt::format(", {} more kinds", sorted.size() - i);
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", sorted[i].first,
                        sorted[i].second == 1 ? "" : fmt::format(" x{}", sorted[i].second));
  }
  return text;
}

Counts kinds_of(const delegates::PayloadDescription& payload) {
  Counts counts;
  for (const delegates::PayloadGraph& graph : payload.graphs) {
    for (const delegates::PayloadOperator& op : graph.operators) ++counts[op.name];
  }
  return counts;
}

std::string xnnpack_summary(std::span<const std::byte> bytes) {
  Budget steps(default_load_steps(bytes.size()));
  auto payload = xnnpack::open_payload(bytes, steps);
  if (!payload.ok()) return fmt::format("damaged: {}", payload.error().message());
  const auto graph = xnnpack::read_graph(*payload->graph, steps);
  if (!graph.ok()) return fmt::format("damaged: {}", graph.error().message());
  Counts counts;
  for (const xnnpack::Node& node : graph->nodes) ++counts[node.kind->name];
  return fmt::format("{} ({})", inspector::counted(graph->nodes.size(), "operator"),
                     counts_text(counts));
}

const fbs::ExecutionPlan* plan_of(const Program& program, std::string_view method) {
  for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
    if (plan->name()->string_view() == method) return plan;
  }
  return nullptr;
}

std::string summary(const delegates::PayloadInput& input) {
  try {
    const delegates::PayloadDescription payload = delegates::describe_payload(input);
    std::string text = payload.kind;
    if (payload.operators != 0) {
      text += fmt::format(", {} ({})", inspector::counted(payload.operators, "operator"),
                          counts_text(kinds_of(payload)));
    }
    if (payload.constants != 0) {
      text += fmt::format(", {}: {} bytes", inspector::counted(payload.constants, "constant"),
                          payload.constant_bytes);
    }
    if (!payload.closed.empty()) text += "; " + payload.closed;
    return inspector::printable(text);
  } catch (const FormatError& error) {
    return "damaged: " + inspector::printable(error.what());
  }
}

}  // namespace

delegates::PayloadInput payload_input(const fbs::BackendDelegate& delegate,
                                      std::span<const std::byte> payload) {
  delegates::PayloadInput input{delegate.id()->string_view(), payload};
  for (uint32_t i = 0; i < size_of(delegate.compile_specs()); ++i) {
    const fbs::CompileSpec& spec = *delegate.compile_specs()->Get(i);
    delegates::CompileOption& option = input.options.emplace_back();
    if (spec.key() != nullptr) option.key = spec.key()->string_view();
    if (spec.value() == nullptr) continue;
    option.value = std::as_bytes(std::span(spec.value()->data(), spec.value()->size()));
  }
  return input;
}

std::vector<std::string> delegate_lines(const Program& program, std::string_view method,
                                        const NamedDataMap* external, DelegateChoice choice) {
  std::vector<std::string> lines;
  const fbs::ExecutionPlan* plan = plan_of(program, method);
  if (plan == nullptr) return lines;
  const MergedNamedData data(&program.named_data(), external);
  for (uint32_t i = 0; i < size_of(plan->delegates()); ++i) {
    const fbs::BackendDelegate& delegate = *plan->delegates()->Get(i);
    const std::string_view backend = delegate.id()->string_view();
    if (choice == DelegateChoice::kMissing && all_backends().find(backend) != nullptr) continue;
    if (lines.size() == kMaxLines) {
      lines.emplace_back("… and more delegates (pte_inspect lists all)");
      return lines;
    }
    const DataBuffer payload = check(ProgramAccess::payload(program, *delegate.processed()));
    delegates::PayloadInput input = payload_input(delegate, payload.bytes());
    input.data = &data;
    input.method = method;
    const bool is_xnnpack = backend == xnnpack::kBackendId;
    lines.push_back(fmt::format("delegate {}: {}: {}", i, inspector::printable(backend),
                                is_xnnpack ? xnnpack_summary(input.bytes) : summary(input)));
  }
  return lines;
}

std::string kernel_line(const Program& program, std::string_view method) {
  Counts counts;
  size_t calls = 0;
  const fbs::ExecutionPlan* plan = plan_of(program, method);
  if (plan == nullptr) return "";
  for (const fbs::Chain* chain : *plan->chains()) {
    for (uint32_t i = 0; i < size_of(chain->instructions()); ++i) {
      const auto* call = chain->instructions()->Get(i)->instr_args_as_KernelCall();
      if (call == nullptr) continue;
      const fbs::Operator& op = *plan->operators()->Get(static_cast<uint32_t>(call->op_index()));
      const std::string_view overload =
          op.overload() == nullptr ? std::string_view() : op.overload()->string_view();
      ++counts[inspector::printable(
          fmt::format("{}{}{}", op.name()->string_view(), overload.empty() ? "" : ".", overload))];
      ++calls;
    }
  }
  return calls == 0 ? "kernels: none"
                    : fmt::format("kernels: {} ({})", inspector::counted(calls, "call"),
                                  counts_text(counts));
}

}  // namespace vitrine::tools
