#include "tools/advise/stored_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/digest.h"
#include "base/json.h"
#include "tools/common/files.h"
#include "tools/common/machine_limits.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

std::string text_of(const JsonValue& object, std::string_view key) {
  return object.holds(key) ? object.at(key).string() : std::string();
}

std::optional<Interval> interval_of(const JsonValue& object, std::string_view key) {
  if (!object.holds(key)) return std::nullopt;
  std::vector<double> bounds;
  object.at(key).each_item([&](const JsonValue& bound) { bounds.push_back(bound.number()); });
  if (bounds.size() != 2) object.at(key).fail("is not an interval");
  return Interval{bounds[0], bounds[1]};
}

Settings settings_of(const JsonValue& words) {
  Settings settings;
  words.each_item([&](const JsonValue& word) {
    if (word.string().starts_with("--")) {
      settings.push_back({word.string(), ""});
    } else if (!settings.empty()) {
      settings.back().value = word.string();
    }
  });
  return settings;
}

Gain gain_of(const std::string& name) {
  constexpr std::array<std::string_view, 5> kNames = {"time", "prompt", "memory", "loading",
                                                      "file"};
  const auto* const found = std::ranges::find(kNames, name);
  return found == kNames.end() ? Gain::kTime : static_cast<Gain>(found - kNames.begin());
}

std::optional<Variant> change_of(const JsonValue& object) {
  if (!object.holds("lower") || !object.holds("run")) return std::nullopt;
  return Variant{.lowering = settings_of(object.at("lower")),
                 .running = settings_of(object.at("run"))};
}

Advice advice_of(const JsonValue& line) {
  Advice advice{
      .name = line.at("name").string(), .what = "", .why = "", .how = text_of(line, "how")};
  advice.change = change_of(line);
  advice.needs = text_of(line, "needs");
  advice.gain = gain_of(line.at("gain").string());
  advice.saved = interval_of(line, "saved");
  advice.of = line.at("of").number();
  advice.ratio = interval_of(line, "ratio");
  advice.outputs = {line.at("outputs").string(), line.at("outputs_are_safe").boolean()};
  return advice;
}

}  // namespace

std::filesystem::path advice_file(const Context& context) {
  const std::filesystem::path folder = default_cache_file().parent_path();
  if (folder.empty() || context.profile.run.model_digest.empty()) return {};
  std::string key =
      fmt::format("{} {} {} {} {} {}", context.profile.run.model_digest, context.method,
                  context.source.string(), settings_text(context.baseline), context.threads,
                  context.profile.run.input_values);
  if (!context.device.empty()) {
    key += fmt::format(" {} {} {}", context.device, context.profile.run.date, context.wall_ns());
  }
  for (const std::string& path : context.calibrate) key += ' ' + path;
  const std::string digest = digest_of(std::as_bytes(std::span(key)));
  return folder / fmt::format("advice_{}.json", digest.substr(digest.find(':') + 1));
}

void store_advice(const std::filesystem::path& file, const std::string& json) {
  if (file.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  try {
    write_file(file, json);
  } catch (const ToolError&) {
    return;  // the next --apply advises again
  }
}

std::optional<StoredAdvice> stored_advice(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return std::nullopt;
  try {
    const std::vector<std::byte> bytes = read_file(file);
    const JsonDocument document(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), file.string());
    const JsonValue root = document.root();
    StoredAdvice stored;
    if (root.at("origin").holds("date")) stored.date = root.at("origin").at("date").string();
    root.at("advice").each_item(
        [&](const JsonValue& line) { stored.findings.advice.push_back(advice_of(line)); });
    if (root.holds("together")) {
      const JsonValue together = root.at("together");
      Combination all;
      together.at("lines").each_item(
          [&](const JsonValue& line) { all.lines.push_back(line.integer<size_t>()); });
      all.advice = {.name = "together", .what = "", .why = ""};
      all.advice.change = change_of(together);
      all.advice.ratio = interval_of(together, "ratio");
      if (all.advice.ratio) stored.findings.together = std::move(all);
    }
    return stored;
  } catch (const HostError&) {
    return std::nullopt;
  }
}

}  // namespace vitrine::tools
