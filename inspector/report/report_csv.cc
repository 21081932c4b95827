#include "inspector/report/report_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <vector>

#include "inspector/text/row_texts.h"

namespace vitrine::inspector {
namespace {

constexpr std::string_view kHeader =
    "row,where,delegate,partition,kernel,library,source_ops,folded_ops,inserted_for_row,modules,"
    "debug_handles,calls,avg_ns,p50_ns,min_ns,p90_ns,max_ns,share";

// Quotes only where needed. Changes texts that a spreadsheet would run as formulas.
std::string cell(std::string_view text) {
  std::string safe(text);
  if (!safe.empty() && std::string_view("=+-@\t\r").find(safe.front()) != std::string_view::npos) {
    safe.insert(0, 1, '\'');
  }
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  for (size_t at = safe.find('"'); at != std::string::npos; at = safe.find('"', at + 2)) {
    safe.insert(at, 1, '"');
  }
  return '"' + safe + '"';
}

std::string joined(const std::vector<std::string>& texts) {
  std::string list;
  for (size_t i = 0; i < texts.size(); ++i) list += (i == 0 ? "" : ";") + texts[i];
  return cell(list);
}

std::string times(const TimeStatistics& time) {
  return fmt::format("{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}", time.avg, time.p50, time.min, time.p90,
                     time.max);
}

double share_of(const TimeStatistics& time, const Profile& profile) {
  return profile.wall.avg > 0 ? time.avg / profile.wall.avg : 0;
}

// What no line before it has.
struct Rest {
  const char* name;
  const TimeStatistics& time;
  bool is_there;
};

std::array<Rest, 3> rests(const Profile& profile, const Grouping& grouping) {
  return {{{"beyond the top", grouping.others, !grouping.other_rows.empty()},
           {"filtered out", grouping.filtered, !grouping.filtered_rows.empty()},
           {"unattributed", profile.unattributed, true}}};
}

std::string groups_csv(const Profile& profile, const Grouping& grouping) {
  std::string csv =
      "group,depth,rows,calls,avg_ns,p50_ns,min_ns,p90_ns,max_ns,own_avg_ns,share,flops,bytes\r\n";
  for (const Group& group : grouping.groups) {
    csv += fmt::format("{},{},{},{},{},{:.3f},{:.6f},", cell(group.name), group.depth,
                       group.num_rows, group.calls, times(group.time), group.own_avg, group.share);
    csv += group.costed > 0 ? fmt::format("{:.0f},{:.0f}\r\n", group.cost.flops, group.cost.bytes)
                            : ",\r\n";
  }
  for (const Rest& rest : rests(profile, grouping)) {
    if (!rest.is_there) continue;
    csv += fmt::format("{},,,,{},{:.3f},{:.6f},,\r\n", rest.name, times(rest.time), rest.time.avg,
                       share_of(rest.time, profile));
  }
  return csv;
}

std::string rows_csv(const Profile& profile, const Grouping& grouping) {
  std::string csv(kHeader);
  csv += "\r\n";
  for (const Group& group : grouping.groups) {
    const size_t i = group.rows[0];
    const ProfileRow& row = profile.rows[i];
    csv += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6f}\r\n", i + 1, where_name(row.where),
        cell(row.delegate), row.partition < 0 ? "" : std::to_string(row.partition),
        cell(row.kernel), cell(row.library), joined(row.source_ops), joined(row.folded_ops),
        row.inserted_for_row.has_value() ? std::to_string(*row.inserted_for_row) : "",
        joined(row.modules), fmt::join(row.debug_handles, ";"), row.calls, times(row.time),
        row.share);
  }
  for (const Rest& rest : rests(profile, grouping)) {
    if (!rest.is_there) continue;
    csv += fmt::format(",{},,,,,,,,,,,{},{:.6f}\r\n", rest.name, times(rest.time),
                       share_of(rest.time, profile));
  }
  return csv;
}

}  // namespace

std::string report_csv(const Profile& profile) { return report_csv(profile, {}); }

std::string report_csv(const Profile& profile, const View& view) {
  const Grouping grouping = group_rows(profile, view);
  return view.by == GroupBy::kNone ? rows_csv(profile, grouping) : groups_csv(profile, grouping);
}

}  // namespace vitrine::inspector
