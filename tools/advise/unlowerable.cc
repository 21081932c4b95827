#include "tools/advise/unlowerable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "tools/advise/report.h"

namespace vitrine::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string where_text(const Blocker& blocker) {
  constexpr size_t kShown = 4;
  std::string text = inspector::counted(blocker.calls, "call");
  if (blocker.lines.empty()) return text;
  const std::span<const std::string> shown(blocker.lines.data(),
                                           std::min(blocker.lines.size(), kShown));
  text += fmt::format(": {}", fmt::join(shown, ", "));
  if (blocker.lines.size() > kShown) {
    text += fmt::format(" and {} more lines", blocker.lines.size() - kShown);
  }
  return text;
}

// Returns a sentence that says if the model can be lowered without the calls in `blockers`.
std::string rest_text(const Blockers& blockers) {
  if (blockers.is_incomplete)
    return "Not all calls were checked, because checking them takes too long.";
  if (!blockers.other_error.empty()) {
    return fmt::format("{}: {}",
                       blockers.all.empty() ? "Each call can be lowered alone, but the model cannot"
                                            : "Without these calls, lowering still fails",
                       blockers.other_error);
  }
  return "Without these calls, the model can be lowered.";
}

}  // namespace

NotLowerable::NotLowerable(const std::filesystem::path& model, const std::string& error,
                           Blockers blockers)
    : ToolError(fmt::format("{}: the model cannot be lowered: {}", model.string(), error)),
      model_(model.filename().string()),
      error_(error),
      blockers_(std::move(blockers)) {}

std::string blockers_text(const NotLowerable& model, size_t width) {
  const Blockers& blockers = model.blockers();
  std::string text = inspector::wrap_words(
      "",
      fmt::format("{}: the model cannot be lowered. {}", inspector::printable(model.model()),
                  blockers.all.size() == 1 ? "This change is needed:"
                  : blockers.all.empty()   ? ""
                                           : "All of these changes are needed:"),
      width);
  text += '\n';
  for (size_t i = 0; i < blockers.all.size(); ++i) {
    const Blocker& blocker = blockers.all[i];
    text += inspector::wrap_words(fmt::format("#{:<3}", i + 1),
                                  inspector::printable("replace " + blocker.op), width);
    add_line(text, "where", where_text(blocker), width);
    add_line(text, "why", blocker.reason, width);
    add_line(text, "write", blocker.remedy, width);
  }
  return text + (blockers.all.empty() ? "" : "\n") +
         inspector::wrap_words("", inspector::printable(rest_text(blockers)), width);
}

std::string blockers_json(const NotLowerable& model) {
  Json lines = Json::array();
  for (const Blocker& blocker : model.blockers().all) {
    lines.push_back({{"name", "replace_" + blocker.op},
                     {"op", blocker.op},
                     {"calls", blocker.calls},
                     {"lines", blocker.lines},
                     {"why", blocker.reason},
                     {"how", blocker.remedy},
                     {"gain", "lowering"}});
  }
  const Blockers& blockers = model.blockers();
  const Json json = {
      {"version", 1},
      {"model", model.model()},
      {"is_lowerable", false},
      {"error", model.error()},
      {"advice", std::move(lines)},
      {"other_error", blockers.other_error.empty() ? Json() : Json(blockers.other_error)},
      {"is_complete", !blockers.is_incomplete}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace vitrine::tools
