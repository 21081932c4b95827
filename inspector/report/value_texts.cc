#include "inspector/report/value_texts.h"

#include <fmt/format.h>

#include <limits>

#include "base/text/text_layout.h"

namespace vitrine::inspector {
namespace {

ComparedTexts texts_of(const ComparedOp& op, const std::string& node_op, const Profile& a,
                       const Profile& b) {
  ComparedTexts texts = compared_texts(op, a, b);
  if (texts.op.empty()) texts.op = texts.short_op = printable(node_op);
  return texts;
}

}  // namespace

ComparedTexts value_texts(const ComparedValue& value, const Profile& a, const Profile& b) {
  return texts_of(value.op, value.node_op, a, b);
}

ComparedTexts value_texts(const UncomparedValue& value, const Profile& a, const Profile& b) {
  return texts_of(value.op, value.node_op, a, b);
}

std::string result_text(const ComparedValue& value) {
  const size_t index = value.difference.index;
  return index == 0 ? "" : fmt::format(" [{}]", index);
}

std::vector<std::string> value_figures(const TensorDifference& figures) {
  const bool is_same = figures.sqnr_db == std::numeric_limits<double>::infinity();
  return {fmt::format("{:.2g}", figures.max_abs), fmt::format("{:.2g}", figures.mean_abs),
          fmt::format("{:.6f}", figures.cosine),
          is_same ? "same" : fmt::format("{:.1f}", figures.sqnr_db)};
}

std::vector<std::string> first_below(const ValueComparison& comparison, const Profile& a,
                                     const Profile& b) {
  if (!comparison.first_below.has_value()) return {};
  const size_t i = *comparison.first_below;
  const ComparedValue& value = comparison.values[i];
  const ComparedTexts texts = value_texts(value, a, b);
  std::string text = fmt::format("#{} {}", i + 1, texts.op);
  if (!texts.module.empty()) text += " " + texts.module;
  std::vector<std::string> parts = {
      text, fmt::format("SQNR {:.1f} dB", value.difference.figures.sqnr_db)};
  for (const std::string& line : value.lines) parts.push_back(printable(line));
  return parts;
}

}  // namespace vitrine::inspector
