#include "inspector/text/comparison_texts.h"

#include <fmt/format.h>

#include <utility>

#include "inspector/text/row_texts.h"
#include "inspector/text/text_layout.h"

namespace vitrine::inspector {
namespace {

// "a, b x2": repeats in a row are counted.
std::string counted_list(const std::vector<std::string>& items) {
  std::string text;
  for (size_t i = 0; i < items.size();) {
    size_t count = 1;
    while (i + count < items.size() && items[i + count] == items[i]) ++count;
    text += (text.empty() ? "" : ", ") + items[i];
    if (count > 1) text += fmt::format(" x{}", count);
    i += count;
  }
  return text;
}

std::string place_of(const std::vector<size_t>& rows, const Profile& profile) {
  std::vector<std::string> places;
  places.reserve(rows.size());
  for (const size_t row : rows) places.push_back(row_texts(profile.rows[row]).place);
  return counted_list(places);
}

void name_rows(const std::vector<size_t>& rows, const Profile& profile, ComparedTexts& texts) {
  std::vector<std::string> ops, modules;
  for (const size_t row : rows) {
    ops.push_back(op_type(profile.rows[row]));
    modules.push_back(row_texts(profile.rows[row]).module);
  }
  texts.op = texts.short_op = counted_list(ops);
  if (ops.size() > 2) texts.short_op = fmt::format("{} +{}", ops[0], ops.size() - 1);
  texts.module = common_path(modules);
}

}  // namespace

ComparedTexts compared_texts(const ComparedOp& op, const Profile& a, const Profile& b) {
  ComparedTexts texts;
  // The side that has it in one row names it best: with all that was folded into that row.
  const bool use_a = op.rows_b.empty() || (!op.rows_a.empty() && op.rows_a.size() == 1) ||
                     (!op.rows_a.empty() && op.rows_b.size() != 1);
  const Profile& profile = use_a ? a : b;
  const std::vector<size_t>& rows = use_a ? op.rows_a : op.rows_b;
  if (rows.size() == 1) {
    const ProfileRow& row = profile.rows[rows[0]];
    RowTexts of_row = row_texts(row);
    if (row.is_inserted && row.inserted_for_row.has_value()) {
      const RowTexts served = row_texts(profile.rows[*row.inserted_for_row - 1]);
      of_row.op = "layout change for " + op_type(profile.rows[*row.inserted_for_row - 1]);
      of_row.short_op = "layout change";
      of_row.module = served.module;
    }
    // An unknown op gets the name of its kernel.
    if (row.source_ops.empty() && row.folded_ops.empty() && !row.is_inserted &&
        !of_row.kernel.empty()) {
      of_row.op = of_row.short_op = of_row.kernel;
    }
    texts.op = std::move(of_row.op);
    texts.short_op = std::move(of_row.short_op);
    texts.module = std::move(of_row.module);
  } else {
    name_rows(rows, profile, texts);
  }
  texts.place_a = place_of(op.rows_a, a);
  texts.place_b = place_of(op.rows_b, b);
  return texts;
}

std::string side_line(std::string_view label, const Profile& profile,
                      const std::vector<std::string>& facts, size_t width) {
  std::vector<std::string> parts;
  if (!profile.run.model.empty()) parts.push_back(printable(profile.run.model));
  parts.push_back(printable(profile.method));
  parts.insert(parts.end(), facts.begin(), facts.end());
  parts.push_back("names: " + (profile.run.record.empty() ? std::string("from the program alone")
                                                          : printable(profile.run.record)));
  return wrap(label, parts, kDot, width);
}

nlohmann::ordered_json compared_json(const ComparedOp& op, const ComparedTexts& texts) {
  return {{"op", texts.op}, {"module", texts.module}, {"rows_a", op.rows_a}, {"rows_b", op.rows_b}};
}

const char* alignment_name(Alignment alignment) {
  switch (alignment) {
    case Alignment::kHandles:
      return "debug handles";
    case Alignment::kOps:
      return "op and module";
    case Alignment::kOrder:
      return "names in run order";
  }
  return "";
}

}  // namespace vitrine::inspector
