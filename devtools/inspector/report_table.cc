#include "devtools/inspector/report_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "devtools/inspector/row_texts.h"
#include "devtools/inspector/text_layout.h"

namespace vitrine::inspector {
namespace {

constexpr size_t kMinWidth = 80;
constexpr size_t kBarFromWidth = 120;  // narrower tables need the room for names
constexpr size_t kBarWidth = 10;
constexpr size_t kSlowest = 5;
constexpr std::string_view kGap = "  ";
constexpr std::string_view kDot = " · ";
constexpr std::string_view kHighlight = "\x1b[33m";
constexpr std::string_view kReset = "\x1b[0m";

struct Unit {
  double ns;
  const char* name;
  int decimals;

  std::string text(double value) const { return fmt::format("{:.{}f}", value / ns, decimals); }
  std::string with_name(double value) const { return fmt::format("{} {}", text(value), name); }
};
constexpr double kUs = 1e3, kMs = 1e6, kSecond = 1e9;

// For single figures: three digits or more.
Unit unit_for(double value) {
  if (value < 10 * kUs) return {kUs, "us", 2};
  if (value < kMs) return {kUs, "us", 1};
  if (value < 100 * kMs) return {kMs, "ms", 2};
  if (value < 10 * kSecond) return {kMs, "ms", 1};
  return {kSecond, "s", 2};
}

// For the columns of the table, by the wall time: rows are down to a ten-thousandth of it.
Unit unit_for_rows(double wall) {
  if (wall < 100 * kUs) return {kUs, "us", 2};
  if (wall < 100 * kMs) return {kUs, "us", 1};
  return {kMs, "ms", wall < kSecond ? 3 : 2};
}

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

struct Column {
  std::string title = {};
  bool is_number = false;
  bool cut_at_left = false;
  size_t width = 0;
};

struct Line {
  std::vector<std::string> cells;
  bool stands_out = false;
};

class TableReport {
 public:
  TableReport(const Profile& profile, const TableOptions& options)
      : profile_(profile),
        width_(std::max(options.width, kMinWidth)),
        options_(options),
        unit_(unit_for_rows(profile.wall.avg)) {
    for (const ProfileRow& row : profile.rows) {
      texts_.push_back(row_texts(row));
      has_calls_ |= row.calls != 1;
      has_delegates_ |= row.where == Where::kDelegate;
      max_share_ = std::max(max_share_, row.share);
    }
  }

  std::string report() {
    write_head();
    out_ += '\n';
    write_rows();
    out_ += '\n';
    write_totals();
    write_legend_and_notes();
    return std::move(out_);
  }

 private:
  // ---- Head

  void write_head() {
    const RunInfo& run = profile_.run;
    std::vector<std::string> title;
    if (!run.model.empty()) title.push_back(printable(run.model));
    title.push_back(printable(profile_.method));
    add_list(title, "in ", run.inputs);
    add_list(title, "out ", run.outputs);
    out_ += wrap("", title, kDot, width_);
    out_ += wrap("", delegates_and_kernels(), kDot, width_);
    out_ += wrap("", run_facts(), kDot, width_);
    write_wall();
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
    std::string part = kernels.empty() ? "kernels: none" : "kernels: ";
    bool is_first = true;
    for (const auto& [library, count] : kernels) {
      part += fmt::format("{}{}{}{}", is_first ? "" : ", ", count, library.empty() ? "" : " ",
                          printable(library));
      is_first = false;
    }
    if (!kernels.empty()) part += fmt::format(", {} % of the time", percent(share));
    parts.push_back(part);
    return parts;
  }

  std::vector<std::string> run_facts() const {
    const RunInfo& run = profile_.run;
    std::vector<std::string> facts;
    const auto add_time = [&](const char* label, const std::optional<uint64_t>& time) {
      if (!time.has_value()) return;
      const auto value = static_cast<double>(*time);
      facts.push_back(fmt::format("{} {}", label, unit_for(value).with_name(value)));
    };
    add_time("load", run.load_ns);
    add_time("init", run.init_ns);
    std::string runs = counted(profile_.runs, "run");
    if (run.warmup_runs.has_value()) {
      runs += fmt::format(" after {}", counted(*run.warmup_runs, "warm-up"));
    }
    facts.push_back(runs);
    if (run.threads.has_value()) facts.push_back(counted(*run.threads, "thread"));
    if (run.trace_overhead.has_value()) {
      facts.push_back(fmt::format("tracing {:+.1f} %", *run.trace_overhead * 100));
    }
    if (run.peak_rss_bytes.has_value()) {
      facts.push_back(
          fmt::format("peak {:.1f} MB", static_cast<double>(*run.peak_rss_bytes) / 1e6));
    }
    return facts;
  }

  void write_wall() {
    const TimeStatistics& wall = profile_.wall;
    const Unit unit = unit_for(wall.avg);
    const std::string left =
        fmt::format("wall  min {}   p50 {}   p90 {}   max {}   avg {} {}", unit.text(wall.min),
                    unit.text(wall.p50), unit.text(wall.p90), unit.text(wall.max),
                    unit.text(wall.avg), unit.name);
    const std::string source =
        "names: " +
        (profile_.run.record.empty() ? "from the program alone" : printable(profile_.run.record));
    const size_t used = display_width(left) + display_width(source);
    if (used + kGap.size() <= width_) {
      out_ += left + std::string(width_ - used, ' ') + source + '\n';
    } else {
      out_ += left + '\n' + source + '\n';
    }
  }

  // ---- Rows

  enum : size_t { kNumber, kPlace, kOp, kModule, kKernel, kFirstFigure };

  void write_rows() {
    columns_ = {
        {"#", true}, {"ran in"}, {"source op"}, {"module", false, true}, {"kernel", false, true}};
    if (options_.ids) columns_.push_back({"instruction: id, handles"});
    if (has_calls_) columns_.push_back({"calls", true});
    columns_.push_back({fmt::format("avg {}", unit_.name), true});
    for (const char* title : {"p50", "min", "%", "cum %"}) columns_.push_back({title, true});
    if (width_ >= kBarFromWidth) columns_.push_back({""});

    std::vector<Line> lines;
    double sum = 0;
    for (size_t i = 0; i < profile_.rows.size(); ++i) {
      sum += profile_.rows[i].share;
      lines.push_back(row_line(i, sum));
    }
    const double rest = profile_.wall.avg > 0 ? profile_.unattributed.avg / profile_.wall.avg : 0;
    lines.push_back(total_line("unattributed", profile_.unattributed, rest, sum + rest));
    lines.push_back(total_line("wall", profile_.wall, 1, -1));
    fit_columns(lines);

    Line title;
    for (const Column& column : columns_) title.cells.push_back(column.title);
    write_line(title);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i + 2 == lines.size()) out_ += rule();
      write_line(lines[i]);
    }
  }

  Line row_line(size_t index, double cumulated) const {
    const ProfileRow& row = profile_.rows[index];
    const RowTexts& texts = texts_[index];
    Line line{.cells = {std::to_string(index + 1), texts.place, op_mark(row) + texts.op,
                        texts.module, texts.kernel},
              .stands_out = has_delegates_ && row.where == Where::kKernel};
    if (options_.ids) line.cells.push_back(ids(row));
    if (has_calls_) line.cells.push_back(fmt::format("{:.4g}", row.calls));
    add_figures(line, row.time, row.share, cumulated);
    if (width_ >= kBarFromWidth) {
      line.cells.push_back(bar(max_share_ > 0 ? row.share / max_share_ : 0, kBarWidth));
    }
    return line;
  }

  // Names that are guesses say so where others are known.
  std::string op_mark(const ProfileRow& row) const {
    return row.join == Join::kInferred && !profile_.run.record.empty() ? "~" : "";
  }

  Line total_line(const char* label, const TimeStatistics& time, double share,
                  double cumulated) const {
    Line line{.cells = {"", "", label, "", ""}};
    if (options_.ids) line.cells.emplace_back();
    if (has_calls_) line.cells.emplace_back();
    add_figures(line, time, share, cumulated);
    return line;
  }

  void add_figures(Line& line, const TimeStatistics& time, double share, double cumulated) const {
    for (const double value : {time.avg, time.p50, time.min})
      line.cells.push_back(unit_.text(value));
    line.cells.push_back(percent(share));
    line.cells.push_back(cumulated < 0 ? "" : percent(cumulated));
  }

  static std::string ids(const ProfileRow& row) {
    std::string text = fmt::format("{}:", row.instruction);
    if (row.where == Where::kDelegate) text += ' ' + printable(row.identifier);
    if (!row.debug_handles.empty()) text += fmt::format(" [{}]", fmt::join(row.debug_handles, ","));
    return text;
  }

  size_t table_width() const {
    size_t width = 0;
    for (const Column& column : columns_) width += column.width + kGap.size();
    return width - kGap.size();
  }

  // Columns get the width of their longest cell; if that is too much, the widest of the names give
  // way, one cell at a time. Figures never do.
  void fit_columns(std::vector<Line>& lines) {
    constexpr size_t kLeast = 8;
    for (size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].width = display_width(columns_[c].title);
      for (const Line& line : lines) {
        if (c < line.cells.size()) {
          columns_[c].width = std::max(columns_[c].width, display_width(line.cells[c]));
        }
      }
    }
    if (width_ >= kBarFromWidth) columns_.back().width = kBarWidth;
    while (table_width() > width_) {
      Column* widest = &columns_[kOp];
      for (Column& column : columns_) {
        if (!column.is_number && !column.title.empty() && column.width > widest->width) {
          widest = &column;
        }
      }
      if (widest->width <= kLeast) break;
      --widest->width;
    }
    for (size_t i = 0; i < texts_.size(); ++i) {
      std::string& op = lines[i].cells[kOp];
      if (display_width(op) > columns_[kOp].width) {
        op = op_mark(profile_.rows[i]) + texts_[i].short_op;
      }
    }
  }

  void write_line(const Line& line) {
    std::string text;
    for (size_t c = 0; c < line.cells.size(); ++c) {
      const Column& column = columns_[c];
      const std::string& cell = line.cells[c];
      if (c != 0) text += kGap;
      if (column.is_number) {
        text += align_right(cell, column.width);
      } else {
        text += align_left(
            column.cut_at_left ? cut_left(cell, column.width) : cut_right(cell, column.width),
            column.width);
      }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    if (options_.color && line.stands_out) {
      text = std::string(kHighlight) + text + std::string(kReset);
    }
    out_ += text + '\n';
  }

  std::string rule() const {
    std::string line;
    for (size_t i = 0; i < std::min(table_width(), width_); ++i) line += "─";
    return line + '\n';
  }

  // ---- Totals

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
    for (const auto& [name, share] : shares) {
      parts.push_back(fmt::format("{} {} %", name, percent(share)));
    }
    return parts;
  }

  void write_totals() {
    constexpr std::string_view kBetween = "   ";
    auto places = shares_by(place_type);
    const double rest = profile_.wall.avg > 0 ? profile_.unattributed.avg / profile_.wall.avg : 0;
    places.emplace_back("unattributed", rest);
    out_ += wrap("ran in   ", with_percents(places), kBetween, width_);
    out_ += wrap("op type  ", with_percents(shares_by(op_type)), kBetween, width_);

    std::vector<size_t> order(profile_.rows.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return profile_.rows[a].time.avg > profile_.rows[b].time.avg;
    });
    order.resize(std::min(order.size(), kSlowest));
    std::vector<std::string> slowest;
    for (const size_t i : order) {
      const std::string& name = texts_[i].module.empty() ? texts_[i].short_op : texts_[i].module;
      slowest.push_back(fmt::format("#{} {} {} %", i + 1, name, percent(profile_.rows[i].share)));
    }
    if (!slowest.empty()) out_ += wrap("slowest  ", slowest, kBetween, width_);
  }

  void write_legend_and_notes() {
    const auto any = [&](auto matches) {
      return std::any_of(profile_.rows.begin(), profile_.rows.end(), matches);
    };
    std::vector<std::string> legend;
    if (any([](const ProfileRow& row) { return !row.folded_ops.empty(); })) {
      legend.emplace_back("\"+ op\": folded into the operator before it");
    }
    if (any([](const ProfileRow& row) { return row.is_inserted; })) {
      legend.emplace_back("layout changes were inserted by the lowering");
    }
    if (any([&](const ProfileRow& row) { return !op_mark(row).empty(); })) {
      legend.emplace_back("\"~\": named by its kernel, not in the record");
    }
    if (!legend.empty()) out_ += wrap("", legend, kDot, width_);
    for (const std::string& note : profile_.notes) {
      out_ += wrap("note: ", words(printable(note)), " ", width_);
    }
  }

  static std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
      const size_t space = text.find(' ');
      words.emplace_back(text.substr(0, space));
      text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    }
    return words;
  }

  const Profile& profile_;
  const size_t width_;
  const TableOptions& options_;
  const Unit unit_;
  std::vector<RowTexts> texts_;  // parallel to the rows
  std::vector<Column> columns_;
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
