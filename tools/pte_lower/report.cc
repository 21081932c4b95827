#include "tools/pte_lower/report.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <vector>

#include "aot/lowering/delegated_graph.h"
#include "aot/lowering/delegation_info.h"
#include "aot/lowering/explain.h"

namespace vitrine::tools {
namespace {

// Formats a size: "1.4 MB".
std::string size_text(uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1000 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
  return fmt::format("{:.{}f} {}", size, size < 10 ? 2 : 1, kUnits[unit]);
}

// Returns the method's name as a heading, or nothing for a model with one method.
std::string heading(const aot::LoweredModel& model, const std::string& method) {
  return model.methods.size() == 1 ? "" : fmt::format("{}\n", method);
}

template <class Text>
std::string for_each_method(const aot::LoweredModel& model, Text text) {
  std::string all;
  for (const auto& [name, program] : model.methods) {
    if (!all.empty()) all += '\n';
    all += heading(model, name) + text(name, program);
  }
  return all;
}

// Lists the changes of --attention and --optimize. Returns an empty text without these options.
std::string changes_text(const aot::LoweredModel& model, const std::string& method) {
  const auto found = model.changes.find(method);
  if (found == model.changes.end()) return "";
  if (found->second.empty()) return "Optimized: nothing.\n";
  return "Optimized:\n" + aot::format_changes(found->second);
}

// Lists the calls that --quantize int8 left in float, by reason. Empty if the model is not
// quantized to int8.
std::string float_calls_text(const aot::LoweredModel& model, const std::string& method,
                             bool with_calls) {
  const auto found = model.int8.find(method);
  if (found == model.int8.end()) return "";
  const aot::Int8Result& result = found->second;
  std::string text =
      fmt::format("Int8: {} calls. In float: {}.\n", result.int8_calls,
                  result.floats.empty() ? "none" : std::to_string(result.floats.size()));
  std::map<std::string, std::vector<const aot::FloatCall*>> lines;
  for (const aot::FloatCall& call : result.floats) {
    lines[fmt::format("{}: {}", call.op, call.reason)].push_back(&call);
  }
  for (const auto& [line, calls] : lines) {
    text += fmt::format("{} x {}\n", calls.size(), line);
    if (!with_calls) continue;
    for (const aot::FloatCall* call : calls) {
      text += fmt::format("    {}{}\n", call->name,
                          call->module.empty() ? "" : fmt::format(" ({})", call->module));
    }
  }
  return text;
}

// Counts the delegated subgraphs and nodes inside branches, which delegation_info() does not count.
// Returns an empty text if branches have no delegates.
std::string branches_text(const aot::Graph& graph) {
  size_t delegates = 0;
  size_t nodes = 0;
  const auto visit = [&](const auto& self, const aot::Graph& outer) -> void {
    for (const auto& [name, branch] : outer.subgraphs()) {
      const delegation::DelegationInfo info = delegation::delegation_info(*branch);
      delegates += info.subgraphs;
      nodes += info.delegated_nodes;
      self(self, *branch);
    }
  };
  visit(visit, graph);
  if (delegates == 0) return "";
  return fmt::format("In branches: {} more delegated subgraphs, {} more delegated nodes\n",
                     delegates, nodes);
}

}  // namespace

std::string summary_text(const aot::LoweredModel& model) {
  std::string text =
      for_each_method(model, [&](const auto& name, const aot::ExportedProgram& program) {
        const delegation::DelegationInfo info = delegation::delegation_info(*program.graph);
        const aot::MethodDebugInfo& debug = model.emitted.debug_info.find(name)->second;
        return delegation::format_summary(info) + delegation::format_grid(info) +
               branches_text(*program.graph) +
               fmt::format("Planned memory: {} ({} without sharing)\n",
                           size_text(debug.planned_bytes), size_text(debug.naive_bytes));
      });
  text += fmt::format("Program: {}", size_text(model.program_bytes));
  if (const uint64_t record = model.emitted.record_bytes; record != 0) {
    text +=
        fmt::format(", of which {} ({:.1f} %) are debug maps (--no-debug-maps)", size_text(record),
                    100.0 * static_cast<double>(record) / static_cast<double>(model.program_bytes));
  }
  text += '\n';
  for (const auto& [tag, bytes] : model.emitted.ptd) {
    text += fmt::format("{}.ptd: {}\n", tag, size_text(bytes.size()));
  }
  return text;
}

std::string graph_text(const aot::LoweredModel& model) {
  return for_each_method(model, [](const auto&, const aot::ExportedProgram& program) {
    return delegation::format_delegated_graph(*program.graph);
  });
}

std::string graphviz_text(const aot::LoweredModel& model) {
  return for_each_method(model, [](const auto&, const aot::ExportedProgram& program) {
    return delegation::format_graphviz(program);
  });
}

std::string explain_text(const aot::LoweredModel& model, bool with_calls) {
  return for_each_method(model, [&](const auto& name, const aot::ExportedProgram& program) {
    const std::string changes =
        float_calls_text(model, name, with_calls) + changes_text(model, name);
    const auto found = model.rejections.find(name);
    if (found == model.rejections.end()) return changes + "No backend was given.\n";
    const std::string lines = delegation::explain(program, found->second, with_calls);
    return changes + (lines.empty() ? "All calls are delegated.\n" : lines);
  });
}

}  // namespace vitrine::tools
