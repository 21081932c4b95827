#include "inspector/report/run_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text/text_layout.h"

namespace vitrine::inspector {

std::string warning_lines(std::string_view label, const RunInfo& run, size_t width) {
  std::string lines;
  for (const std::string& warning : run.warnings) {
    lines += wrap_words("warning: ", std::string(label) + printable(warning), width);
  }
  return lines;
}

std::string origin_lines(const RunInfo& run, bool has_digest, size_t width) {
  std::vector<std::string> facts;
  if (!run.input_values.empty()) facts.push_back("inputs: " + run.input_values);
  for (const std::string* fact : {&run.tool, &run.date, &run.machine}) {
    if (!fact->empty()) facts.push_back(*fact);
  }
  if (has_digest && !run.model_digest.empty()) facts.push_back("model " + run.model_digest);
  for (std::string& fact : facts) fact = printable(fact);
  return facts.empty() ? "" : wrap("", facts, kDot, width);
}

nlohmann::ordered_json origin_json(const RunInfo& run) {
  nlohmann::ordered_json json;
  const std::pair<const char*, const std::string*> members[] = {
      {"tool", &run.tool},
      {"date", &run.date},
      {"machine", &run.machine},
      {"model_digest", &run.model_digest},
      {"input_values", &run.input_values}};
  for (const auto& [name, text] : members) {
    json[name] = text->empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(*text);
  }
  return json;
}

std::string tracing_text(const RunInfo& run) {
  constexpr double kMinShownFloor = 0.01;
  if (*run.trace_overhead < 0) return "tracing below noise";
  std::string text = fmt::format("tracing {:+.1f} %", *run.trace_overhead * 100);
  const double floor = run.trace_floor.value_or(0);
  if (floor >= kMinShownFloor) text += fmt::format(" (clock {:.1f} %)", floor * 100);
  return text;
}

std::vector<std::pair<const char*, double>> first_result_parts(const Profile& profile) {
  const RunInfo& run = profile.run;
  if (profile.has_ticks || !run.open_ns || !run.load_ns || !run.init_ns) return {};
  const auto open = static_cast<double>(*run.open_ns);
  const auto pack = static_cast<double>(run.pack_ns.value_or(0));
  const auto plan = static_cast<double>(run.plan_ns.value_or(0));
  return {{"open", open},
          {"verify", std::max(0.0, static_cast<double>(*run.load_ns) - open)},
          {"prepare", std::max(0.0, static_cast<double>(*run.init_ns) - pack - plan)},
          {"pack", pack},
          {"plan", plan},
          {"run", profile.wall.first}};
}

}  // namespace vitrine::inspector
