#include "tools/advise/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "inspector/report/run_texts.h"
#include "tools/advise/rows.h"

namespace vitrine::tools {
namespace {

using Json = nlohmann::ordered_json;

const char* confidence_name(Confidence confidence) {
  constexpr const char* kNames[] = {"measured", "modeled", "rule"};
  return kNames[static_cast<size_t>(confidence)];
}

const char* gain_name(Gain gain) {
  constexpr const char* kNames[] = {"time", "prompt", "memory", "loading", "file"};
  return kNames[static_cast<size_t>(gain)];
}

const char* gain_text(Gain gain) {
  constexpr const char* kTexts[] = {"", " of a prompt's token", " of memory", " of loading",
                                    " of the file"};
  return kTexts[static_cast<size_t>(gain)];
}

bool is_bytes(Gain gain) { return gain == Gain::kMemory || gain == Gain::kFile; }

std::string change_of_bytes(double bytes) {
  return (bytes > 0 ? "+" : "-") + bytes_text(std::abs(bytes));
}

std::string how_text(const Baseline& baseline, const Advice& advice) {
  const Context& context = baseline.context();
  if (!advice.change) return advice.how;
  const Variant variant = merged(context.baseline, *advice.change);
  std::string text;
  if (!advice.change->lowering.empty()) {
    text = lower_command(context.source, variant, "model.pte");
  }
  if (!advice.change->running.empty()) {
    if (!text.empty()) text += "; ";
    text += run_command(context.is_file ? context.model : "model.pte", variant);
  }
  return advice.how.empty() ? text : text + "; " + advice.how;
}

std::string risk_text(const Advice& advice) {
  std::string risk = advice.outputs.text.empty() ? "" : "outputs " + advice.outputs.text;
  const auto add = [&](const char* name, const std::optional<double>& bytes) {
    if (!bytes || *bytes == 0) return;
    risk +=
        fmt::format("{}{} {}", risk.empty() ? "" : inspector::kDot, name, change_of_bytes(*bytes));
  };
  add("memory", advice.memory_change);
  add("file", advice.file_change);
  return risk;
}

std::string advice_block(const Baseline& baseline, const Advice& advice, size_t number,
                         size_t width) {
  std::string text =
      inspector::wrap_words(fmt::format("#{:<3}", number),
                            inspector::printable(advice.name) + ": " + saved_text(advice), width);
  text += inspector::wrap_words("    ", inspector::printable(advice.what), width);
  for (const AdviceFact& fact : advice_facts(baseline, advice)) {
    add_line(text, fact.label, fact.text, width);
  }
  return text;
}

std::string together_text(const Baseline& baseline, const Findings& findings, size_t width) {
  const std::string title = together_title(findings);
  if (title.empty()) return "";
  const Advice& all = findings.together->advice;
  std::string text = '\n' + inspector::wrap_words("", title, width);
  add_line(text, "how", how_text(baseline, all), width);
  add_line(text, "risk", "outputs " + all.outputs.text, width);
  add_line(text, confidence_name(all.confidence), all.method, width);
  return text;
}

std::string dismissed_lines(const char* title, const std::vector<Dismissed>& all, size_t width) {
  if (all.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  size_t longest = 0;
  for (const Dismissed& one : all) longest = std::max(longest, inspector::display_width(one.name));
  for (const Dismissed& one : all) {
    text += inspector::wrap_words(
        "  " + inspector::align_left(inspector::printable(one.name), longest) + "  ",
        inspector::printable(one.why), width);
  }
  return text;
}

std::string head_text(const Baseline& baseline, size_t width) {
  const Context& context = baseline.context();
  const inspector::Profile& profile = context.profile;
  std::vector<std::string> facts = {
      inspector::printable(context.model.filename().string()), baseline_text(baseline),
      context.device.empty()
          ? fmt::format("{} of {} processors", inspector::counted(context.threads, "thread"),
                        context.processors)
          : fmt::format("{} on {}", inspector::counted(context.threads, "thread"),
                        inspector::printable(context.device)),
      fmt::format("a run takes {} (p50 of {})", time_text(context.wall_ns()),
                  inspector::counted(profile.runs, "run"))};
  std::string text = inspector::warning_lines("", profile.run, width);
  text += inspector::wrap("", facts, inspector::kDot, width);
  text += inspector::origin_lines(profile.run, false, width);
  text += inspector::wrap_notes(baseline.notes(), width);
  return text;
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json();
}

Json settings_json(const Settings& settings) {
  Json list = Json::array();
  for (const std::string& word : words_of(settings)) list.push_back(word);
  return list;
}

// Returns the `vitrine lower` options of the changed program, or null if the program stays the
// same.
Json program_json(const Context& context, const std::optional<Variant>& change) {
  if (!change || change->lowering.empty()) return {};
  return settings_json(merged(context.baseline, *change).lowering);
}

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json dismissed_json(const std::vector<Dismissed>& all) {
  Json list = Json::array();
  for (const Dismissed& one : all) list.push_back({{"name", one.name}, {"why", one.why}});
  return list;
}

}  // namespace

void add_line(std::string& text, std::string_view label, const std::string& content, size_t width) {
  if (content.empty()) return;
  text +=
      inspector::wrap_words(fmt::format("    {:<9}", label), inspector::printable(content), width);
}

std::vector<AdviceFact> advice_facts(const Baseline& baseline, const Advice& advice) {
  std::vector<AdviceFact> facts = {
      {"why", advice.why},
      {"how", how_text(baseline, advice)},
      {"needs", advice.needs},
      {"risk", risk_text(advice)},
      {"not with",
       advice.excludes.empty() ? "" : fmt::format("#{}", fmt::join(advice.excludes, ", #"))},
      {confidence_name(advice.confidence), advice.method}};
  std::erase_if(facts, [](const AdviceFact& fact) { return fact.text.empty(); });
  return facts;
}

std::string baseline_text(const Baseline& baseline) {
  const Context& context = baseline.context();
  return context.is_file ? "as it is" : "vitrine lower " + settings_text(context.baseline);
}

std::string together_title(const Findings& findings) {
  if (!findings.together || findings.together->lines.size() < 2) return "";
  return fmt::format("#{} together: {}", fmt::join(findings.together->lines, " and #"),
                     saved_text(findings.together->advice));
}

std::string saved_text(const Advice& advice) {
  if (!advice.saved) return "gain unknown";
  const Interval saved = *advice.saved;
  const double of = std::max(advice.of, 1.0);
  if (is_bytes(advice.gain)) {
    const bool is_limit = saved.low <= 0;
    return fmt::format("saves {}{} of {}{} ({:.0f} %)", is_limit ? "up to " : "",
                       bytes_text(is_limit ? saved.high : saved.middle()), bytes_text(of),
                       advice.gain == Gain::kMemory ? gain_text(advice.gain) : "",
                       100 * (is_limit ? saved.high : saved.middle()) / of);
  }
  const inspector::Unit unit = inspector::unit_for(of);
  if (saved.low <= 0) {
    return fmt::format("saves up to {} of {}{} ({:.0f} %)", unit.text(saved.high),
                       unit.with_name(of), gain_text(advice.gain), 100 * saved.high / of);
  }
  const std::string low = fmt::format("{:.0f}", 100 * saved.low / of);
  const std::string high = fmt::format("{:.0f}", 100 * saved.high / of);
  return fmt::format("saves {} to {} of {}{} ({} %)", unit.text(saved.low), unit.text(saved.high),
                     unit.with_name(of), gain_text(advice.gain),
                     low == high ? low : low + " to " + high);
}

std::string advice_text(const Baseline& baseline, const Findings& findings, size_t width) {
  std::string text = head_text(baseline, width) + '\n';
  if (findings.advice.empty()) text += "No change saves time, memory or bytes for certain.\n";
  for (size_t i = 0; i < findings.advice.size(); ++i) {
    text += advice_block(baseline, findings.advice[i], i + 1, width);
  }
  text += together_text(baseline, findings, width);
  text += dismissed_lines("Tried, but not worth it:", findings.useless, width);
  text += dismissed_lines("Not applicable, or not tried:", findings.not_tried, width);
  return text;
}

std::string advice_json(const Baseline& baseline, const Findings& findings) {
  const Context& context = baseline.context();
  Json json = {{"version", 1},
               {"model", context.model.filename().string()},
               {"method", context.method},
               {"is_program", context.is_file},
               {"is_lowerable", true},
               {"baseline", settings_json(context.baseline.lowering)},
               {"device", context.device.empty() ? Json() : Json(context.device)},
               {"threads", context.threads},
               {"wall_ns", context.wall_ns()},
               {"origin", inspector::origin_json(context.profile.run)},
               {"notes", baseline.notes()}};
  Json lines = Json::array();
  for (const Advice& advice : findings.advice) {
    Json line = {{"name", advice.name},
                 {"what", advice.what},
                 {"why", advice.why},
                 {"rows", advice.rows},
                 {"how", how_text(baseline, advice)},
                 {"lower", advice.change ? settings_json(advice.change->lowering) : Json()},
                 {"run", advice.change ? settings_json(advice.change->running) : Json()},
                 {"program", program_json(context, advice.change)},
                 {"needs", advice.needs.empty() ? Json() : Json(advice.needs)},
                 {"gain", gain_name(advice.gain)},
                 {"saved", interval_json(advice.saved)},
                 {"of", advice.of},
                 {"ratio", interval_json(advice.ratio)},
                 {"method", advice.method},
                 {"confidence", confidence_name(advice.confidence)},
                 {"outputs", advice.outputs.text},
                 {"outputs_are_safe", advice.outputs.is_safe},
                 {"memory_change", optional_json(advice.memory_change)},
                 {"file_change", optional_json(advice.file_change)},
                 {"excludes", advice.excludes}};
    lines.push_back(std::move(line));
  }
  json["advice"] = std::move(lines);
  if (findings.together) {
    const Advice& all = findings.together->advice;
    json["together"] = {{"lines", findings.together->lines},
                        {"steps", findings.together->steps},
                        {"lower", settings_json(all.change->lowering)},
                        {"run", settings_json(all.change->running)},
                        {"program", program_json(context, all.change)},
                        {"saved", interval_json(all.saved)},
                        {"of", all.of},
                        {"ratio", interval_json(all.ratio)},
                        {"outputs", all.outputs.text}};
  }
  json["useless"] = dismissed_json(findings.useless);
  json["not_tried"] = dismissed_json(findings.not_tried);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace vitrine::tools
