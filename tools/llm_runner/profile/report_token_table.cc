#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "tools/llm_runner/profile/report_tokens.h"
#include "tools/llm_runner/profile/token_groups.h"

namespace vitrine::llm {
namespace {

using inspector::GroupBy;
using inspector::printable;
using inspector::TextTable;
using inspector::Unit;
using inspector::unit_for;
using inspector::unit_for_rows;
using inspector::wrap;

constexpr double kThousand = 1000;

// Narrow tables leave out the columns with the highest rank first.
enum Rank : size_t {
  kPeakRank = 1,
  kRateRank,
  kGrowthRank,
  kPlaceRank,
  kKernelRank,
  kWeightsRank,
  kCacheRank,
  kRowsRank,
};

// The title of the first column if rows are grouped by `by`.
struct NameColumn {
  GroupBy by;
  const char* title;
  TextTable::Kind kind;
};
constexpr NameColumn kNameColumns[] = {{GroupBy::kOp, "op", TextTable::Kind::kName},
                                       {GroupBy::kDelegate, "ran in", TextTable::Kind::kName},
                                       {GroupBy::kModule, "module", TextTable::Kind::kPath},
                                       {GroupBy::kLine, "source line", TextTable::Kind::kTail}};

std::string time_text(double ns) { return unit_for(ns).with_name(ns); }

std::string bytes_text(double bytes) {
  return bytes < 1e6 ? fmt::format("{:.1f} kB", bytes / 1e3)
                     : fmt::format("{:.2f} MB", bytes / 1e6);
}

class TokenTable {
 public:
  TokenTable(const TokenProfile& profile, const inspector::TableOptions& options)
      : profile_(profile),
        options_(options),
        width_(std::max(options.width, inspector::kMinWidth)),
        prefill_unit_(unit_for_rows(profile.wall.ns[kPrefill])),
        decode_unit_(unit_for_rows(per_token(profile.wall))) {}

  std::string report() {
    write_head();
    out_ += '\n';
    write_rows();
    out_ += '\n';
    write_growth();
    out_ += inspector::wrap_notes(profile_.notes, width_);
    return std::move(out_);
  }

 private:
  // ---- Head

  void write_head() {
    const inspector::RunInfo& run = profile_.run;
    std::vector<std::string> title = {printable(run.model), printable(method_names(profile_))};
    if (run.threads) title.push_back(inspector::counted(*run.threads, "thread"));
    title.push_back(fmt::format("context {}", profile_.max_context));
    title.push_back("names: " +
                    (run.record.empty() ? "from the program alone" : printable(run.record)));
    out_ += wrap("", title, inspector::kDot, width_);
    std::vector<std::string> start;
    if (run.load_ns) start.push_back("load " + time_text(static_cast<double>(*run.load_ns)));
    if (run.init_ns) start.push_back("init " + time_text(static_cast<double>(*run.init_ns)));
    start.push_back("time to first token " + first_token_text());
    out_ += wrap("", start, inspector::kDot, width_);
    write_memory();
    write_phases();
  }

  std::string first_token_text() const {
    const std::vector<uint64_t>& all = profile_.first_token_ns;
    if (all.empty()) return "unknown";
    std::string first = time_text(static_cast<double>(all.front()));
    if (all.size() == 1) return first;
    const auto [min, max] = std::ranges::minmax(all);
    return fmt::format("{} ({} prompts: {} to {})", first, all.size(),
                       time_text(static_cast<double>(min)), time_text(static_cast<double>(max)));
  }

  void write_memory() {
    std::vector<std::string> facts;
    const auto add = [&facts](const char* label, double bytes, const std::string& more) {
      facts.push_back(fmt::format("{} {}{}", label, bytes_text(bytes), more));
    };
    for (const MemoryPart& part : memory_parts(profile_)) {
      add(part.name, part.bytes, part.is_cache ? cache_text() : "");
    }
    if (profile_.run.peak_rss_bytes) {
      add("process peak", static_cast<double>(*profile_.run.peak_rss_bytes), "");
    }
    out_ += wrap("memory  ", facts, inspector::kDot, width_);
    write_cache_layers();
  }

  void write_cache_layers() {
    std::vector<std::string> facts;
    size_t layers = 0;
    for (const CacheSpan& span : cache_spans(profile_)) {
      facts.push_back(fmt::format("{} {}{}", span.name, bytes_text(static_cast<double>(span.bytes)),
                                  span.layers == 1 ? "" : " each"));
      layers += span.layers;
    }
    if (layers > 1) out_ += wrap("cache   ", facts, inspector::kDot, width_);
  }

  std::string cache_text() const {
    const std::vector<CacheBuffer>& caches = profile_.caches;
    const bool have_same_type = std::ranges::all_of(
        caches, [&](const CacheBuffer& cache) { return cache.type == caches[0].type; });
    return fmt::format(" ({} x {}{})", caches.size(), caches[0].type,
                       have_same_type ? "" : ", ...");
  }

  void write_phases() {
    const auto add_line = [this](const std::string& line) { out_ += wrap("", {line}, "", width_); };
    add_line(fmt::format("prefill {} in {}, {}: {:.0f} tokens/s",
                         inspector::counted(profile_.tokens[kPrefill], "token"),
                         inspector::counted(profile_.steps[kPrefill], "call"),
                         time_text(profile_.wall.ns[kPrefill]),
                         tokens_per_second(profile_, Phase::kPrefill)));
    if (profile_.steps[kDecode] == 0) return;
    const inspector::TimeStatistics& token = profile_.token;
    const Unit unit = unit_for(token.p50);
    add_line(fmt::format(
        "decode  {} in {}: {:.0f} tokens/s", inspector::counted(profile_.steps[kDecode], "token"),
        time_text(profile_.wall.ns[kDecode]), tokens_per_second(profile_, Phase::kDecode)));
    add_line(fmt::format("a token min {}   p50 {}   p90 {}   p99 {}   max {} {}",
                         unit.text(token.min), unit.text(token.p50), unit.text(token.p90),
                         unit.text(token.p99), unit.text(token.max), unit.name));
  }

  // ---- Rows

  double per_token(const Times& times) const {
    return profile_.steps[kDecode] == 0
               ? 0
               : times.ns[kDecode] / static_cast<double>(profile_.steps[kDecode]);
  }

  void write_rows() {
    using Kind = TextTable::Kind;
    const bool is_single = options_.view.by == GroupBy::kNone;
    TextTable table;
    if (is_single) {
      table.add_column("ran in", Kind::kName, kPlaceRank);
      table.add_column("source op", Kind::kName);
      table.add_column("module", Kind::kPath);
      table.add_column("kernel", Kind::kUniform, kKernelRank);
    } else {
      const auto* names = std::ranges::find(kNameColumns, options_.view.by, &NameColumn::by);
      table.add_column(names->title, names->kind);
      table.add_column("rows", Kind::kFigure, kRowsRank);
    }
    first_figure_ = is_single ? 4 : 2;
    label_column_ = is_single ? 1 : 0;
    table.add_column(fmt::format("prefill {}", prefill_unit_.name), Kind::kFigure);
    table.add_column("%", Kind::kFigure);
    table.add_column(fmt::format("{} a token", decode_unit_.name), Kind::kFigure);
    table.add_column("%", Kind::kFigure);
    table.add_column("weights kB", Kind::kFigure, kWeightsRank);
    table.add_column("cache kB", Kind::kFigure, kCacheRank);
    table.add_column("GB/s", Kind::kFigure, kRateRank);
    table.add_column("peak %", Kind::kFigure, kPeakRank);
    table.add_column(fmt::format("growth {}", decode_unit_.name), Kind::kFigure, kGrowthRank);

    const TokenGroups groups = group_tokens(profile_, options_.view);
    for (const TokenGroup& group : groups.groups) {
      std::vector<TextTable::Cell> cells;
      if (is_single) {
        cells = {group.place, group.name, group.module, {group.kernel, group.short_kernel}};
      } else {
        cells = {group.name, std::to_string(group.rows)};
      }
      for (std::string& figure : figures(group)) cells.emplace_back(std::move(figure));
      table.add_row(std::move(cells), false);
    }
    add_totals(table, groups);
    out_ += table.text(width_, options_.color);
  }

  void add_totals(TextTable& table, const TokenGroups& groups) const {
    const auto add = [&](std::string label, const TokenCost& cost) {
      table.add_total({std::move(label)}, label_column_, figures(cost), first_figure_);
    };
    if (groups.others.rows != 0) {
      add(inspector::counted(groups.others.rows, "other row"), groups.others);
    }
    for (const auto& [name, times] : times_outside(profile_)) {
      const bool is_unattributed = times == &profile_.unattributed;
      if (is_unattributed || times->ns[kPrefill] + times->ns[kDecode] > 0) {
        add(name, {.times = *times});
      }
    }
    TokenCost wall;
    for (const TokenRow& row : profile_.rows) wall += row;
    wall.times = profile_.wall;
    add("wall", wall);
  }

  std::vector<std::string> figures(const TokenCost& cost) const {
    const Times& times = cost.times;
    const auto share = [&](size_t phase) {
      return profile_.wall.ns[phase] > 0
                 ? inspector::percent(times.ns[phase] / profile_.wall.ns[phase])
                 : "";
    };
    const auto kilo = [](double value) {
      return value >= kThousand / 10 ? fmt::format("{:.1f}", value / kThousand) : "";
    };
    const double ns = per_token(times);
    const double bytes = cost.weight_bytes + cost.cache_bytes;
    const bool has_rate = bytes >= kThousand && ns > 0;
    const auto& limits = profile_.run.limits;
    const auto growth = times.growth();
    return {prefill_unit_.text(times.ns[kPrefill]),
            share(kPrefill),
            profile_.steps[kDecode] != 0 ? decode_unit_.text(ns) : "",
            share(kDecode),
            kilo(cost.weight_bytes),
            kilo(cost.cache_bytes),
            has_rate ? fmt::format("{:.1f}", bytes / ns) : "",
            has_rate && limits ? inspector::percent(bytes * 1e9 / ns / limits->bytes_per_s) : "",
            growth ? growth_text(growth->per_position * fitted_length(), decode_unit_) : ""};
  }

  static std::string growth_text(double ns, const Unit& unit) {
    return fmt::format("{:+.{}f}", ns / unit.ns, unit.decimals);
  }

  double fitted_length() const {
    const auto [first, last] = profile_.fitted_positions;
    return static_cast<double>(last - first);
  }

  // ---- Growth

  void write_growth() {
    if (profile_.steps[kDecode] == 0) return;
    write_curve();
    const std::string tokens = fmt::format(
        "least squares over {} of {} tokens, without the first six and disturbed tokens",
        profile_.usual_steps, profile_.steps[kDecode]);
    if (!profile_.wall.line) {
      out_ +=
          "growth with position is unknown: fewer than 16 undisturbed tokens, or all at one "
          "position\n";
      return;
    }
    const auto growth = profile_.wall.growth();
    if (!growth) {
      out_ += inspector::wrap_words(
          "", fmt::format("growth with position: within the noise ({})", tokens), width_);
      return;
    }
    const auto [first, last] = profile_.fitted_positions;
    const double end = growth->at(static_cast<double>(last));
    const Unit unit = unit_for(end);
    const double length = fitted_length();
    out_ += inspector::wrap_words(
        "",
        fmt::format("a token takes {} at position {} and {} at {}: {} {} ({} to {} with 95 % "
                    "confidence; {})",
                    unit.with_name(growth->at(static_cast<double>(first))), first,
                    unit.with_name(end), last, growth_text(growth->per_position * length, unit),
                    unit.name, growth_text((growth->per_position - growth->error) * length, unit),
                    growth_text((growth->per_position + growth->error) * length, unit), tokens),
        width_);
    if (profile_.attention && profile_.attention->passes_weights) {
      out_ += inspector::wrap_words(
          "",
          fmt::format("at position {:.0f}, attention takes as long as the products with weights",
                      *profile_.attention->passes_weights),
          width_);
    }
  }

  // Draws the medians of up to 40 equal parts of the decode phase.
  void write_curve() {
    constexpr size_t kMaxStretches = 40;
    constexpr size_t kLevels = 8;
    const std::vector<StepWall>& all = profile_.walls[kDecode];
    constexpr size_t kTexts = 46;  // maximum width of the texts around the curve
    const size_t fitting = width_ > kTexts ? width_ - kTexts : 1;
    const size_t count = std::min({all.size(), kMaxStretches, fitting});
    std::vector<double> medians;
    for (size_t i = 0; i < count; ++i) {
      std::vector<double> ns;
      for (size_t k = all.size() * i / count; k < all.size() * (i + 1) / count; ++k) {
        ns.push_back(static_cast<double>(all[k].ns));
      }
      std::ranges::nth_element(ns, ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2));
      medians.push_back(ns[ns.size() / 2]);
    }
    // One slow part must not flatten the rest of the curve.
    const double top = std::min(std::ranges::max(medians), 2 * profile_.token.p50);
    std::string curve;
    for (const double ns : medians) {
      const auto level = static_cast<size_t>(
          std::clamp(std::round(ns / top * kLevels), 1.0, static_cast<double>(kLevels)));
      constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
      curve += kBlocks[level - 1];
    }
    out_ += fmt::format("position {} {} {}   (full height {})\n", all.front().position, curve,
                        all.back().position, time_text(top));
  }

  const TokenProfile& profile_;
  const inspector::TableOptions& options_;
  size_t width_;
  Unit prefill_unit_, decode_unit_;
  size_t first_figure_ = 0, label_column_ = 0;
  std::string out_;
};

}  // namespace

std::string report_token_table(const TokenProfile& profile,
                               const inspector::TableOptions& options) {
  return TokenTable(profile, options).report();
}

}  // namespace vitrine::llm
