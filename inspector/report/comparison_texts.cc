#include "inspector/report/comparison_texts.h"

#include <fmt/format.h>

#include <utility>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

// Joins the items into a text such as "a, b x2". The number counts consecutive repeats.
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

std::string ratio_text(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

// Returns "0.95 to 1.02", or an empty string if the runs are too few for an interval.
std::string interval_text(const Ratio& ratio) {
  if (!ratio.is_decided()) return "";
  return fmt::format("{} to {}", ratio_text(ratio.decision_low()),
                     ratio_text(ratio.decision_high()));
}

std::string verdict_text(const Ratio& ratio, const Comparison& comparison) {
  switch (ratio.verdict) {
    case Verdict::kTooFewRuns:
      return too_few_runs_text(comparison);
    case Verdict::kFaster:
      return "B is faster";
    case Verdict::kSlower:
      return "B is slower";
    case Verdict::kNoChange:
      break;
  }
  return ratio.is_above(1) || ratio.is_below(1) ? kSmallChange
                                                : "no change beyond the noise of the runs";
}

using Json = nlohmann::ordered_json;

Json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio.has_value()) return nullptr;
  Json json = {{"p50", ratio->p50},   {"low", ratio->low},
               {"high", ratio->high}, {"ci_low", nullptr},
               {"ci_high", nullptr},  {"verdict", verdict_name(ratio->verdict)}};
  if (ratio->is_decided()) {
    json["ci_low"] = ratio->ci_low;
    json["ci_high"] = ratio->ci_high;
  }
  return json;
}

}  // namespace

ComparedTexts compared_texts(const ComparedOp& op, const Profile& a, const Profile& b) {
  ComparedTexts texts;
  // Prefers the side that runs the op in a single row: the name of a single row lists its folded
  // ops, but the common name of several rows does not.
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
    if (row.source_ops.empty() && row.folded_ops.empty() && !row.is_inserted && row.phase.empty() &&
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
  if (!profile.run.model_digest.empty()) parts.push_back(printable(profile.run.model_digest));
  parts.push_back("names: " + (profile.run.record.empty() ? std::string("from the program alone")
                                                          : printable(profile.run.record)));
  return wrap(label, parts, kDot, width);
}

nlohmann::ordered_json compared_json(const ComparedOp& op, const ComparedTexts& texts) {
  return {{"op", texts.op}, {"module", texts.module}, {"rows_a", op.rows_a}, {"rows_b", op.rows_b}};
}

ComparedColumns compared_columns(const Comparison& comparison) {
  const double least = std::min(comparison.wall.a.p50, comparison.wall.b.p50);
  return {.unit = comparison.has_ticks ? unit_for_ticks(least) : unit_for_rows(least),
          .wall_change = is_changed(comparison.wall) ? comparison.wall.change : 0};
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

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kTooFewRuns:
      return "too_few_runs";
    case Verdict::kNoChange:
      return "no_change";
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
  }
  return "";
}

std::string too_few_runs_text(const Comparison& comparison) {
  if (comparison.is_paired) {
    return fmt::format("{} of {}s are too few to decide", counted(comparison.runs_a, "pair"),
                       comparison.sample);
  }
  return fmt::format("{} of A and {} of B are too few to decide",
                     counted(comparison.runs_a, comparison.sample), comparison.runs_b);
}

bool is_changed(const ComparedOp& op) {
  return op.ratio.has_value() &&
         (op.ratio->verdict == Verdict::kFaster || op.ratio->verdict == Verdict::kSlower);
}

std::string verdict_line(const Comparison& comparison) {
  const ComparedOp& wall = comparison.wall;
  const auto text = [&](double value) {
    return (comparison.has_ticks ? unit_for_ticks(value) : unit_for(value)).with_name(value);
  };
  std::string line = fmt::format("A {}   B {}", text(wall.a.p50), text(wall.b.p50));
  if (wall.ratio.has_value()) {
    const std::string interval = interval_text(*wall.ratio);
    line += fmt::format("   B/A {}{}: {}", ratio_text(wall.ratio->p50),
                        interval.empty() ? "" : " (" + interval + ")",
                        verdict_text(*wall.ratio, comparison));
  }
  return line;
}

Json compared_times_json(const ComparedOp& op) {
  return {{"a_ns", op.a.avg},
          {"b_ns", op.b.avg},
          {"a_p50_ns", op.a.p50},
          {"b_p50_ns", op.b.p50},
          {"ratio", ratio_json(op.ratio)},
          {"change_ns", op.change}};
}

void ComparedColumns::add_to(TextTable& table, std::string_view what) const {
  using Kind = TextTable::Kind;
  constexpr size_t kRanks[] = {0, 0, 0, kIntervalRank, kChangeRank, kShareRank};
  const std::vector<std::string> all = titles();
  for (size_t i = 0; i < all.size(); ++i) {
    std::string full = all[i];
    if (i < 2) full.insert(2, what);  // "A us" -> "A p50 us"
    table.add_column({std::move(full), all[i]}, Kind::kFigure, kRanks[i]);
  }
}

std::vector<std::string> ComparedColumns::titles() const {
  return {fmt::format("A {}", unit.name),
          fmt::format("B {}", unit.name),
          "B/A",
          "interval",
          fmt::format("change {}", unit.name),
          "share %"};
}

std::vector<std::string> ComparedColumns::figures(const ComparedOp& op, bool in_a,
                                                  bool in_b) const {
  // `share` is the op's part of the change in wall time. Its cell stays empty if the op changed in
  // the opposite direction, or by more than the wall time.
  const double share = wall_change != 0 ? op.change / wall_change : -1;
  return {in_a ? unit.text(op.a.p50) : "-",
          in_b ? unit.text(op.b.p50) : "-",
          op.ratio ? ratio_text(op.ratio->p50) : "",
          op.ratio ? interval_text(*op.ratio) : "",
          fmt::format("{:+.{}f}", op.change / unit.ns, unit.decimals),
          share >= 0 && share <= 1 ? fmt::format("{:.1f}", 100 * share) : ""};
}

}  // namespace vitrine::inspector
