#include "inspector/report/report_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text/number_texts.h"
#include "inspector/report/markup.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

constexpr int kWidth = 960;
constexpr int kLine = 22;
constexpr int kTop = 64;
constexpr int kNames = 430;      // width of the names
constexpr int kBars = 360;       // width of the longest bar
constexpr size_t kMaxName = 60;  // number of characters

struct Bar {
  std::string name;
  double ns = 0;
  double share = 0;
};

// Returns a bar for each group, and then a bar for each part of the time outside of all groups.
std::vector<Bar> bars_of(const Profile& profile, const View& view) {
  const Grouping grouping = group_rows(profile, view);
  std::vector<Bar> bars;
  for (const Group& group : grouping.groups) {
    std::string name = group.name;
    if (view.by == GroupBy::kNone && !group.rows.empty()) {
      const RowTexts texts = row_texts(profile.rows[group.rows[0]]);
      name = texts.module.empty() ? texts.op : texts.op + "  " + texts.module;
    }
    bars.push_back({std::move(name), profile.typical(group.time), group.share});
  }
  const auto add_rest = [&](const char* name, const std::vector<size_t>& rows,
                            const TimeStatistics& time) {
    if (rows.empty()) return;
    double share = 0;
    for (const size_t row : rows) share += profile.rows[row].share;
    bars.push_back({name, profile.typical(time), share});
  };
  add_rest("not shown", grouping.other_rows, grouping.others);
  add_rest("filtered out", grouping.filtered_rows, grouping.filtered);
  bars.push_back(
      {"unattributed", profile.typical(profile.unattributed), profile.unattributed_share()});
  return bars;
}

std::string shortened(std::string name) {
  if (name.size() <= kMaxName) return name;
  size_t end = kMaxName;
  // Moves back over continuation bytes, so that no UTF-8 character is cut.
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "…";
}

}  // namespace

std::string report_svg(const Profile& profile, const View& view) {
  std::vector<Bar> bars = bars_of(profile, view);
  if (!profile.queues.empty()) {
    bars.push_back({fmt::format("not in the wall time: {} (see the table)",
                                counted(profile.queues.size(), "device queue")),
                    0, 0});
  }
  double max_ns = 0;
  for (const Bar& bar : bars) max_ns = std::max(max_ns, bar.ns);
  const double wall = profile.typical(profile.wall);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"16\" y=\"28\" font-size=\"18\" fill=\"#1b1d22\">{2} · {3}</text>\n"
      "<text x=\"16\" y=\"48\" fill=\"#666a73\">{4} of {5} runs: {6}</text>\n",
      kWidth, kTop + static_cast<int>(bars.size()) * kLine + 16, markup_text(profile.run.model),
      markup_text(profile.method), profile.statistic(), profile.runs,
      unit_for(wall).with_name(wall));
  for (size_t i = 0; i < bars.size(); ++i) {
    const int y = kTop + static_cast<int>(i) * kLine;
    const double width = max_ns > 0 ? kBars * std::max(bars[i].ns, 0.0) / max_ns : 0;
    out += fmt::format(
        "<text x=\"16\" y=\"{0}\" fill=\"#1b1d22\">{1}</text>"
        "<rect x=\"{2}\" y=\"{3}\" width=\"{4:.1f}\" height=\"16\" rx=\"2\" fill=\"#7396ec\"/>"
        "<text x=\"{5:.1f}\" y=\"{0}\" fill=\"#666a73\">{6} · {7:.1f} %</text>\n",
        y + 13, markup_text(shortened(bars[i].name)), kNames, y, width, kNames + width + 8,
        unit_for(bars[i].ns).with_name(bars[i].ns), 100 * bars[i].share);
  }
  return out + "</svg>\n";
}

}  // namespace vitrine::inspector
