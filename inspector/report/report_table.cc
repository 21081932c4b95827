#include "inspector/report/report_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/join/cost.h"
#include "inspector/report/row_texts.h"
#include "inspector/report/run_texts.h"

namespace vitrine::inspector {
namespace {

constexpr size_t kMinWidthForBars = 120;  // narrower tables need the space for names
constexpr size_t kBarWidth = 10;
constexpr size_t kSlowest = 5;
// Ranks of columns: narrow tables leave out the columns with the highest rank first.
enum Rank : size_t {
  kShareRank = 1,
  kPlaceRank,
  kKernelRank,
  kRowsRank,
  kCallsRank,
  kFlopRank,
  kCumulatedRank,
  kBarRank,
};
constexpr double kSmallShare = 0.005;  // op types below this share of the wall time are added up

class TableReport {
 public:
  TableReport(const Profile& profile, const TableOptions& options)
      : profile_(profile),
        width_(std::max(options.width, kMinWidth)),
        options_(options),
        unit_(row_unit(profile)) {
    for (const ProfileRow& row : profile.rows) {
      texts_.push_back(row_texts(row));
      has_calls_ |= row.calls != 1;
      has_delegates_ |= row.where == Where::kDelegate;
      max_share_ = std::max(max_share_, row.share);
    }
  }

  std::string report() {
    profile_.queue.empty() ? write_head() : write_queue_head();
    out_ += '\n';
    write_rows(group_rows(profile_, options_.view));
    out_ += '\n';
    write_totals();
    write_legend_and_notes();
    for (const Profile& queue : profile_.queues) {
      out_ += '\n';
      out_ += TableReport(queue, options_).report();
    }
    return std::move(out_);
  }

 private:
  void write_head() {
    const RunInfo& run = profile_.run;
    out_ += warning_lines("", run, width_);
    std::vector<std::string> title;
    if (!run.model.empty()) title.push_back(printable(run.model));
    title.push_back(printable(profile_.method));
    add_list(title, "in ", run.inputs);
    add_list(title, "out ", run.outputs);
    out_ += wrap("", title, kDot, width_);
    out_ += origin_lines(run, true, width_);
    out_ += wrap("", delegates_and_kernels(), kDot, width_);
    const std::vector<std::string> start = start_facts();
    out_ += wrap("", run_facts(start.empty()), kDot, width_);
    if (!start.empty()) out_ += wrap("start ", start, kDot, width_);
    if (const std::vector<std::string> facts = memory_facts(); !facts.empty()) {
      out_ += wrap("", facts, kDot, width_);
    }
    write_wall();
  }

  void write_queue_head() {
    size_t operators = 0;
    for (const DelegateCall& call : profile_.delegate_calls) operators += call.operators;
    out_ += wrap("queue ",
                 {printable(profile_.queue),
                  fmt::format("{} in {}", counted(operators, "operator"),
                              counted(profile_.delegate_calls.size(), "partition")),
                  "not part of the wall time"},
                 kDot, width_);
    if (!profile_.queue_about.empty()) out_ += wrap("      ", {profile_.queue_about}, "", width_);
    const TimeStatistics& sum = profile_.wall;
    const Unit unit = figure_unit(profile_, sum.p50);
    out_ += fmt::format("sum   min {}   p50 {}   p90 {}   max {} {}\n", unit.text(sum.min),
                        unit.text(sum.p50), unit.text(sum.p90), unit.text(sum.max), unit.name);
  }

  static void add_list(std::vector<std::string>& parts, std::string_view label,
                       const std::vector<std::string>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      parts.push_back((i == 0 ? std::string(label) : "") + printable(items[i]));
    }
  }

  std::vector<std::string> delegates_and_kernels() const {
    struct Sum {
      size_t partitions = 0, operators = 0, source_ops = 0;
    };
    std::map<std::string, Sum> delegates;
    for (const DelegateCall& call : profile_.delegate_calls) {
      Sum& sum = delegates[call.delegate];
      ++sum.partitions;
      sum.operators += call.operators;
      sum.source_ops += call.source_ops.size();
    }
    std::vector<std::string> parts;
    for (const auto& [name, sum] : delegates) {
      std::string part =
          fmt::format("{}: {}, {}", name.empty() ? "delegate" : printable(name),
                      counted(sum.partitions, "partition"), counted(sum.operators, "operator"));
      if (sum.source_ops != 0) part += fmt::format(" for {}", counted(sum.source_ops, "source op"));
      parts.push_back(part);
    }
    std::map<std::string, size_t> kernels;
    double share = 0;
    for (const ProfileRow& row : profile_.rows) {
      if (row.where != Where::kKernel) continue;
      ++kernels[row.library];
      share += row.share;
    }
    std::string part = has_delegates_ ? "not delegated: " : "";
    bool is_first = true;
    for (const auto& [library, count] : kernels) {
      const std::string noun = library.empty() ? "kernel" : printable(library) + " kernel";
      part += (is_first ? "" : ", ") + counted(count, noun);
      is_first = false;
    }
    if (kernels.empty()) {
      part += has_delegates_ ? "nothing" : "no operators";
    } else if (has_delegates_) {
      part += fmt::format(", {} % of the time", percent(share));
    }
    parts.push_back(part);
    return parts;
  }

  static std::string time_fact(const char* label, double ns) {
    return fmt::format("{} {}", label, unit_for(ns).with_name(ns));
  }

  // The parts of the time to the first result, and their sum.
  std::vector<std::string> start_facts() const {
    std::vector<std::string> facts;
    double sum = 0;
    for (const auto& [name, ns] : first_result_parts(profile_)) {
      if (ns != 0) facts.push_back(time_fact(name, ns));
      sum += ns;
    }
    if (!facts.empty()) facts.push_back(time_fact("first result after", sum));
    return facts;
  }

  std::vector<std::string> run_facts(bool with_load) const {
    const RunInfo& run = profile_.run;
    std::vector<std::string> facts;
    const auto add_time = [&](const char* label, const std::optional<uint64_t>& time) {
      if (with_load && time) facts.push_back(time_fact(label, static_cast<double>(*time)));
    };
    add_time("load", run.load_ns);
    add_time("init", run.init_ns);
    std::string runs = counted(profile_.runs, "run");
    if (run.warmup_runs.has_value()) {
      runs += fmt::format(" after {}", counted(*run.warmup_runs, "warm-up"));
    }
    facts.push_back(runs);
    if (run.threads.has_value()) facts.push_back(counted(*run.threads, "thread"));
    if (run.trace_overhead.has_value()) facts.push_back(tracing_text(run));
    return facts;
  }

  std::vector<std::string> memory_facts() const {
    const RunInfo& run = profile_.run;
    std::vector<std::string> facts;
    const auto add = [&facts](const char* label, std::optional<uint64_t> bytes) {
      if (bytes.value_or(0) == 0) return;
      const auto value = static_cast<double>(*bytes);
      facts.push_back(value < 1e6 ? fmt::format("{} {:.1f} kB", label, value / 1e3)
                                  : fmt::format("{} {:.1f} MB", label, value / 1e6));
    };
    add("memory peak", run.peak_rss_bytes);
    add("steady", run.steady_rss_bytes);
    if (!run.memory.has_value()) return facts;
    add("activations", run.memory->planned);
    add("workspace", run.memory->workspace);
    add("packed weights", run.memory->packed_weights);
    add("packed weights in a file", run.memory->mapped_weights);
    add("other constants", run.memory->constants);
    return facts;
  }

  void write_wall() {
    const TimeStatistics& wall = profile_.wall;
    const Unit unit = unit_for(wall.p50);
    const std::string& record = profile_.run.record;
    out_ +=
        wrap("wall  ",
             {fmt::format("min {}   p50 {}   p90 {}   max {} {}", unit.text(wall.min),
                          unit.text(wall.p50), unit.text(wall.p90), unit.text(wall.max), unit.name),
              "names: " + (record.empty() ? "from the program alone" : printable(record))},
             kDot, width_);
    std::vector<std::string> spread;
    if (profile_.runs + profile_.cold_runs > 1 && wall.steady > 0) {
      const Unit first = unit_for(wall.first);
      spread.push_back(fmt::format("first run {}, {:.2f} x the steady {}",
                                   first.with_name(wall.first), wall.first / wall.steady,
                                   unit.with_name(wall.steady)));
      spread.push_back(fmt::format("p10 {}  p25 {}  p75 {}  p95 {}  p99 {}", unit.text(wall.p10),
                                   unit.text(wall.p25), unit.text(wall.p75), unit.text(wall.p95),
                                   unit.text(wall.p99)));
      out_ += wrap("      ", spread, kDot, width_);
    }
  }

  void write_rows(const Grouping& grouping) {
    if (options_.view.by == GroupBy::kNone) {
      write_single_rows(grouping);
    } else {
      write_groups(grouping);
    }
  }

  void write_single_rows(const Grouping& grouping) {
    using Kind = TextTable::Kind;
    TextTable table;
    table.add_column("#", Kind::kFigure);
    table.add_column("ran in", Kind::kName, kPlaceRank);
    table.add_column("source op", Kind::kName);
    table.add_column("module", Kind::kPath);
    table.add_column("kernel", Kind::kUniform, kKernelRank);
    if (options_.ids) table.add_column("ids", Kind::kName);
    if (has_calls_) table.add_column("calls", Kind::kFigure);
    add_figure_columns(table);

    double sum = 0;
    for (const Group& group : grouping.groups) {
      sum += group.share;
      add_row(table, group.rows[0], sum);
    }
    constexpr size_t kLabelColumn = 2;
    const size_t first_figure = size_t{5} + options_.ids + has_calls_;
    add_totals(table, grouping, sum, kLabelColumn, first_figure);
    out_ += table.text(width_, options_.color);
  }

  void add_figure_columns(TextTable& table) const {
    using Kind = TextTable::Kind;
    table.add_column(fmt::format("{} {}", profile_.statistic(), unit_.name), Kind::kFigure);
    table.add_column("%", Kind::kFigure, kShareRank);
    table.add_column("cum %", Kind::kFigure, kCumulatedRank);
    if (options_.costs) {
      table.add_column("MFLOP", Kind::kFigure, kFlopRank);
      table.add_column("GFLOP/s", Kind::kFigure);
      table.add_column("GB/s", Kind::kFigure);
      if (profile_.run.limits.has_value()) table.add_column("peak %", Kind::kFigure);
    }
    if (has_bars()) table.add_column("", Kind::kBar, kBarRank);
  }

  // Adds the lines below the rows: rows that are not shown, unattributed time, and the total.
  void add_totals(TextTable& table, const Grouping& grouping, double sum, size_t label_column,
                  size_t first_figure) const {
    const auto add_left_out = [&](const std::vector<size_t>& rows, const TimeStatistics& time,
                                  const char* what) {
      if (rows.empty()) return;
      double share = 0;
      for (const size_t row : rows) share += profile_.rows[row].share;
      sum += share;
      table.add_total({fmt::format("{} {}", counted(rows.size(), "row"), what), what}, label_column,
                      figures(time, share, percent(sum)), first_figure);
    };
    add_left_out(grouping.other_rows, grouping.others, "not shown");
    add_left_out(grouping.filtered_rows, grouping.filtered, "filtered out");
    if (!profile_.queue.empty()) {
      table.add_total({"sum of the queue", "sum"}, label_column, figures(profile_.wall, 1, ""),
                      first_figure);
      return;
    }
    const double rest = profile_.unattributed_share();
    const char* unattributed = has_delegates_ ? "unattributed (delegate entry and exit, dispatch)"
                                              : "unattributed (dispatch)";
    table.add_total({unattributed, "unattributed"}, label_column,
                    figures(profile_.unattributed, rest, percent(sum + rest)), first_figure);
    table.add_total({"wall"}, label_column, figures(profile_.wall, 1, ""), first_figure);
  }

  void write_groups(const Grouping& grouping) {
    using Kind = TextTable::Kind;
    struct NameColumn {
      const char* title;
      GroupBy by;
      Kind kind;
    };
    constexpr NameColumn kGroupColumns[] = {{"op", GroupBy::kOp, Kind::kName},
                                            {"ran in", GroupBy::kDelegate, Kind::kName},
                                            {"module", GroupBy::kModule, Kind::kName},
                                            {"source line", GroupBy::kLine, Kind::kTail}};
    TextTable table;
    const auto* names = std::ranges::find(kGroupColumns, options_.view.by, &NameColumn::by);
    table.add_column(names->title, names->kind);
    table.add_column("rows", Kind::kFigure, kRowsRank);
    table.add_column("calls", Kind::kFigure, kCallsRank);
    add_figure_columns(table);
    double sum = 0;
    double longest = 0;
    for (const Group& group : grouping.groups) longest = std::max(longest, group.share);
    for (const Group& group : grouping.groups) {
      sum += group.own_share;  // in a tree, the share of a parent includes its children
      std::vector<TextTable::Cell> cells = {std::string(2 * group.depth, ' ') + group.label,
                                            std::to_string(group.num_rows),
                                            fmt::format("{:.4g}", group.calls)};
      for (std::string& figure : figures(group.time, group.share, percent(sum))) {
        cells.emplace_back(std::move(figure));
      }
      if (options_.costs) add_cost(cells, group.cost, group.costed);
      if (has_bars()) cells.emplace_back(bar(longest > 0 ? group.share / longest : 0, kBarWidth));
      table.add_row(std::move(cells), false);
    }
    add_totals(table, grouping, sum, 0, 3);
    out_ += table.text(width_, options_.color);
  }

  void add_cost(std::vector<TextTable::Cell>& cells, const Cost& cost, double ns) const {
    const bool is_known = ns > 0 && cost.bytes > 0;
    cells.emplace_back(is_known ? fmt::format("{:.3g}", cost.flops / 1e6) : "");
    cells.emplace_back(is_known ? fmt::format("{:.1f}", cost.flops / ns) : "");
    cells.emplace_back(is_known ? fmt::format("{:.1f}", cost.bytes / ns) : "");
    if (!profile_.run.limits.has_value()) return;
    const std::optional<double> share =
        is_known ? share_of_limits(cost, ns, *profile_.run.limits) : std::nullopt;
    cells.emplace_back(!share ? "" : *share > 1 ? ">100" : percent(*share));
  }

  void add_row(TextTable& table, size_t index, double cumulated) const {
    const ProfileRow& row = profile_.rows[index];
    const RowTexts& texts = texts_[index];
    const std::string brief = op_mark(row) + texts.short_op;
    std::string op = op_mark(row) + texts.op;
    if (display_width(op) > kLongOp) op = brief;
    std::vector<TextTable::Cell> cells = {std::to_string(index + 1),
                                          texts.place,
                                          {op, brief},
                                          texts.module,
                                          {texts.kernel, texts.short_kernel}};
    if (options_.ids) cells.emplace_back(ids(row));
    if (has_calls_) cells.emplace_back(fmt::format("{:.4g}", row.calls));
    for (std::string& figure : figures(row.time, row.share, percent(cumulated))) {
      cells.emplace_back(std::move(figure));
    }
    if (options_.costs) add_cost(cells, row.cost.value_or(Cost{}), row.time.p50);
    if (has_bars()) {
      cells.emplace_back(bar(max_share_ > 0 ? row.share / max_share_ : 0, kBarWidth));
    }
    table.add_row(std::move(cells), has_delegates_ && row.where == Where::kKernel);
  }

  std::vector<std::string> figures(const TimeStatistics& time, double share,
                                   std::string cumulated) const {
    return {unit_.text(profile_.typical(time)), percent(share), std::move(cumulated)};
  }

  bool has_bars() const { return width_ >= kMinWidthForBars; }

  // Returns "~" if the profile has a record, but the row's op had to be inferred.
  std::string op_mark(const ProfileRow& row) const {
    return row.join == Join::kInferred && !profile_.run.record.empty() ? "~" : "";
  }

  // Returns "3: 17 [17,18]": instruction, identifier of the delegate's operator, debug handles.
  static std::string ids(const ProfileRow& row) {
    std::string text = std::to_string(row.instruction);
    if (row.where == Where::kDelegate) text += ": " + printable(row.identifier);
    if (!row.debug_handles.empty()) text += fmt::format(" [{}]", fmt::join(row.debug_handles, ","));
    return text;
  }

  template <class Key>
  std::vector<std::pair<std::string, double>> shares_by(Key key) const {
    std::map<std::string, double> sums;
    for (const ProfileRow& row : profile_.rows) sums[key(row)] += row.share;
    std::vector<std::pair<std::string, double>> sorted(sums.begin(), sums.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
  }

  static std::vector<std::string> with_percents(
      const std::vector<std::pair<std::string, double>>& shares) {
    std::vector<std::string> parts;
    parts.reserve(shares.size());
    for (const auto& [name, share] : shares) {
      parts.push_back(fmt::format("{} {} %", name, percent(share)));
    }
    return parts;
  }

  // Replaces the small shares at the end of the list with their sum.
  static std::vector<std::pair<std::string, double>> without_small(
      std::vector<std::pair<std::string, double>> shares) {
    const auto first = std::find_if(shares.begin(), shares.end(),
                                    [](const auto& entry) { return entry.second < kSmallShare; });
    if (shares.end() - first < 2) return shares;
    double sum = 0;
    for (auto small = first; small != shares.end(); ++small) sum += small->second;
    shares.erase(first, shares.end());
    shares.emplace_back("others", sum);
    return shares;
  }

  void write_totals() {
    auto places = shares_by(place_type);
    if (profile_.queue.empty()) {
      places.emplace_back("unattributed", profile_.unattributed_share());
    }
    out_ += wrap("ran in   ", with_percents(places), kBetween, width_);
    const auto types = without_small(shares_by(op_type));
    if (!types.empty()) out_ += wrap("op type  ", with_percents(types), kBetween, width_);

    std::vector<size_t> order(profile_.rows.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return profile_.rows[a].share > profile_.rows[b].share;
    });
    order.resize(std::min(order.size(), kSlowest));
    std::vector<std::string> slowest;
    for (const size_t i : order) {
      const std::string gap = texts_[i].module.empty() ? "" : " ";
      slowest.push_back(fmt::format("#{} {}{}{} {} %", i + 1, op_type(profile_.rows[i]), gap,
                                    texts_[i].module, percent(profile_.rows[i].share)));
    }
    if (!slowest.empty()) out_ += wrap("slowest  ", slowest, kBetween, width_);
  }

  void write_legend_and_notes() {
    const auto any = [&](auto matches) {
      return std::any_of(profile_.rows.begin(), profile_.rows.end(), matches);
    };
    std::vector<std::string> legend;
    if (any([](const ProfileRow& row) { return !row.folded_ops.empty(); })) {
      legend.emplace_back("\"+\": ops folded into the operator");
    }
    if (any([](const ProfileRow& row) { return row.phase.empty() && row.source_ops.size() > 1; })) {
      legend.emplace_back("\"(of n)\" or a list: n ops share one debug handle");
    }
    if (any([](const ProfileRow& row) { return row.is_inserted; })) {
      legend.emplace_back("layout changes were inserted by the lowering");
    }
    const bool by_payload =
        any([](const ProfileRow& row) { return row.payload_operator.has_value(); });
    if (any([&](const ProfileRow& row) { return !op_mark(row).empty(); })) {
      legend.emplace_back(by_payload
                              ? "\"~\": inferred from the payload's operator and its position"
                              : "\"~\": named after its kernel, because the record lacks the op");
    }
    if (!legend.empty()) out_ += wrap("", legend, kDot, width_);
    out_ += wrap_notes(profile_.notes, width_);
  }

  const Profile& profile_;
  const size_t width_;
  const TableOptions& options_;
  const Unit unit_;
  std::vector<RowTexts> texts_;  // parallel to the rows
  bool has_calls_ = false;
  bool has_delegates_ = false;
  double max_share_ = 0;
  std::string out_;
};

}  // namespace

std::string report_table(const Profile& profile, const TableOptions& options) {
  return TableReport(profile, options).report();
}

}  // namespace vitrine::inspector
