#include "tools/common/foreign_delegates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/format_error.h"
#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "tools/common/backends.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;

constexpr size_t kShownKinds = 8;
constexpr size_t kMaxLines = 32;

// The kinds of operators, the most frequent first.
std::string kinds_text(const delegates::PayloadDescription& payload) {
  std::map<std::string, size_t> counts;
  for (const delegates::PayloadGraph& graph : payload.graphs) {
    for (const delegates::PayloadOperator& op : graph.operators) ++counts[op.name];
  }
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

std::string summary(const delegates::PayloadInput& input) {
  try {
    const delegates::PayloadDescription payload = delegates::describe_payload(input);
    std::string text = payload.kind;
    if (payload.operators != 0) {
      text += fmt::format(", {} ({})", inspector::counted(payload.operators, "operator"),
                          kinds_text(payload));
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

std::vector<std::string> missing_delegates(const Program& program, std::string_view method,
                                           const NamedDataMap* external) {
  std::vector<std::string> lines;
  const MergedNamedData data(&program.named_data(), external);
  for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
    if (plan->name()->string_view() != method) continue;
    for (uint32_t i = 0; i < size_of(plan->delegates()); ++i) {
      const fbs::BackendDelegate& delegate = *plan->delegates()->Get(i);
      if (all_backends().find(delegate.id()->string_view()) != nullptr) continue;
      if (lines.size() == kMaxLines) {
        lines.emplace_back("… and more delegates (pte_inspect lists all)");
        return lines;
      }
      const DataBuffer payload = check(ProgramAccess::payload(program, *delegate.processed()));
      delegates::PayloadInput input = payload_input(delegate, payload.bytes());
      input.data = &data;
      input.method = method;
      lines.push_back(fmt::format("delegate {}: {}: {}", i, inspector::printable(input.backend),
                                  summary(input)));
    }
  }
  return lines;
}

}  // namespace vitrine::tools
