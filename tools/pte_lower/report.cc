#include "tools/pte_lower/report.h"

#include <fmt/format.h>

#include <array>

#include "aot/reports/delegated_graph.h"
#include "aot/reports/delegation_info.h"
#include "aot/reports/explain.h"

namespace vitrine::tools {
namespace {

// "1.4 MB", for people.
std::string size_text(uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1000 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
  return fmt::format("{:.{}f} {}", size, size < 10 ? 2 : 1, kUnits[unit]);
}

// A heading if there are several methods.
std::string heading(const aot::LoweredModel& model, const std::string& method) {
  return model.methods.size() == 1 ? "" : fmt::format("{}\n", method);
}

template <class Text>
std::string each_method(const aot::LoweredModel& model, Text text) {
  std::string all;
  for (const auto& [name, program] : model.methods) {
    if (!all.empty()) all += '\n';
    all += heading(model, name) + text(name, program);
  }
  return all;
}

// What --optimize did; empty if that was not asked for.
std::string changes_text(const aot::LoweredModel& model, const std::string& method) {
  const auto found = model.changes.find(method);
  if (found == model.changes.end()) return "";
  if (found->second.empty()) return "Optimised: nothing.\n";
  return "Optimised:\n" + aot::format_changes(found->second);
}

// The counts that delegation_info, like ExecuTorch's, leaves out; empty if zero.
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
  std::string text = each_method(model, [&](const auto& name, const aot::ExportedProgram& program) {
    const delegation::DelegationInfo info = delegation::delegation_info(*program.graph);
    const aot::MethodDebugInfo& debug = model.emitted.debug_info.find(name)->second;
    return delegation::format_summary(info) + delegation::format_grid(info) +
           branches_text(*program.graph) +
           fmt::format("Planned memory: {} ({} without sharing)\n", size_text(debug.planned_bytes),
                       size_text(debug.naive_bytes));
  });
  text += fmt::format("Program: {}\n", size_text(model.program_bytes));
  for (const auto& [tag, bytes] : model.emitted.ptd) {
    text += fmt::format("{}.ptd: {}\n", tag, size_text(bytes.size()));
  }
  return text;
}

std::string graph_text(const aot::LoweredModel& model) {
  return each_method(model, [](const auto&, const aot::ExportedProgram& program) {
    return delegation::format_delegated_graph(*program.graph);
  });
}

std::string graphviz_text(const aot::LoweredModel& model) {
  return each_method(model, [](const auto&, const aot::ExportedProgram& program) {
    return delegation::format_graphviz(program);
  });
}

std::string explain_text(const aot::LoweredModel& model, bool with_places) {
  return each_method(model, [&](const auto& name, const aot::ExportedProgram& program) {
    const std::string changes = changes_text(model, name);
    const auto found = model.rejections.find(name);
    if (found == model.rejections.end()) return changes + "No backend was given.\n";
    const std::string lines = delegation::explain(program, found->second, with_places);
    return changes + (lines.empty() ? "All calls are delegated.\n" : lines);
  });
}

}  // namespace vitrine::tools
