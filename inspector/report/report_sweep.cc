#include "inspector/report/report_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/profile_json.h"
#include "inspector/report/row_texts.h"
#include "inspector/report/run_texts.h"

namespace vitrine::inspector {
namespace {

constexpr size_t kNameColumns = 3;  // columns before the figures

bool have_equal_rows(const std::vector<Profile>& profiles) {
  return std::ranges::all_of(profiles, [&](const Profile& profile) {
    return std::ranges::equal(profile.rows, profiles[0].rows,
                              [](const ProfileRow& a, const ProfileRow& b) {
                                return a.instruction == b.instruction &&
                                       a.identifier == b.identifier && a.kernel == b.kernel;
                              });
  });
}

template <class Time>
std::vector<std::string> figures(const std::vector<Profile>& profiles, const Unit& unit,
                                 Time time) {
  std::vector<std::string> texts;
  for (const Profile& profile : profiles) texts.push_back(unit.text(time(profile).p50));
  const double first = time(profiles.front()).p50;
  const double last = time(profiles.back()).p50;
  texts.push_back(last > 0 ? fmt::format("{:.2f}", first / last) : "");
  return texts;
}

}  // namespace

std::string report_sweep(const std::vector<Profile>& profiles, const TableOptions& options) {
  using Kind = TextTable::Kind;
  const Profile& first = profiles.front();
  const size_t width = std::max(options.width, kMinWidth);
  std::string out;
  for (const Profile& profile : profiles) {
    out += warning_lines(counted(*profile.run.threads, "thread") + ": ", profile.run, width);
  }
  out +=
      wrap("", {printable(first.run.model), printable(first.method), "median times"}, kDot, width);
  out += origin_lines(first.run, false, width);
  out += '\n';

  double min_wall = first.wall.p50;
  for (const Profile& profile : profiles) min_wall = std::min(min_wall, profile.wall.p50);
  const Unit unit = unit_for_rows(min_wall);
  TextTable table;
  table.add_column("#", Kind::kFigure);
  table.add_column("source op", Kind::kName);
  table.add_column("module", Kind::kPath, 1);
  for (const Profile& profile : profiles) {
    table.add_column(fmt::format("{} {}", counted(*profile.run.threads, "thread"), unit.name),
                     Kind::kFigure);
  }
  table.add_column("speed-up", Kind::kFigure);
  const bool has_rows = have_equal_rows(profiles);
  for (size_t i = 0; has_rows && i < first.rows.size(); ++i) {
    const RowTexts texts = row_texts(first.rows[i]);
    std::vector<TextTable::Cell> cells = {
        std::to_string(i + 1), {texts.op, texts.short_op}, texts.module};
    for (std::string& figure :
         figures(profiles, unit, [i](const Profile& profile) { return profile.rows[i].time; })) {
      cells.emplace_back(std::move(figure));
    }
    table.add_row(std::move(cells));
  }
  table.add_total(
      {"unattributed"}, 1,
      figures(profiles, unit, [](const Profile& profile) { return profile.unattributed; }),
      kNameColumns);
  table.add_total({"wall"}, 1,
                  figures(profiles, unit, [](const Profile& profile) { return profile.wall; }),
                  kNameColumns);
  out += table.text(width, options.color);
  if (!has_rows) out += "The runs executed different rows, so only their sums are shown.\n";
  return out;
}

std::string report_sweep_json(const std::vector<Profile>& profiles) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Profile& profile : profiles) list.push_back(profile_json(profile));
  return list.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::inspector
