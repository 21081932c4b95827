#include "inspector/report/report_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "inspector/report/csv_cell.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

constexpr std::string_view kHeader =
    "row,where,delegate,partition,kernel,library,source_ops,folded_ops,inserted_for_row,modules,"
    "debug_handles,calls,avg_ns,p50_ns,min_ns,p90_ns,max_ns,share";

std::string joined(const std::vector<std::string>& texts) {
  std::string list;
  for (size_t i = 0; i < texts.size(); ++i) list += (i == 0 ? "" : ";") + texts[i];
  return csv_cell(list);
}

std::string times(const TimeStatistics& time) {
  return fmt::format("{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}", time.avg, time.p50, time.min, time.p90,
                     time.max);
}

double share_of(const std::vector<size_t>& rows, const Profile& profile) {
  double share = 0;
  for (const size_t row : rows) share += profile.rows[row].share;
  return share;
}

// A part of the wall time outside of all groups. If `has_line` is true, the file has a line for
// this part.
struct Remainder {
  const char* name;
  const TimeStatistics& time;
  double share;
  bool has_line;
};

std::vector<Remainder> remainders(const Profile& profile, const Grouping& grouping) {
  return {
      {"not shown", grouping.others, share_of(grouping.other_rows, profile),
       !grouping.other_rows.empty()},
      {"filtered out", grouping.filtered, share_of(grouping.filtered_rows, profile),
       !grouping.filtered_rows.empty()},
      {"unattributed", profile.unattributed, profile.unattributed_share(), profile.queue.empty()}};
}

// Adds a column with the queue's name to a CSV text. `title` is the title of the column. Quoted
// cells may contain line breaks.
std::string with_queue(std::string_view csv, std::string_view title, const std::string& queue) {
  std::string text;
  bool is_first = true, is_quoted = false;
  for (const char c : csv) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == '\r' && !is_quoted) {
      text += ',' + csv_cell(is_first ? title : std::string_view(queue));
      is_first = false;
    }
    text += c;
  }
  return text;
}

std::string groups_csv(const Profile& profile, const Grouping& grouping) {
  std::string csv =
      "group,depth,rows,calls,avg_ns,p50_ns,min_ns,p90_ns,max_ns,own_avg_ns,share,flops,bytes\r\n";
  for (const Group& group : grouping.groups) {
    csv += fmt::format("{},{},{},{},{},{:.3f},{:.6f},", csv_cell(group.name), group.depth,
                       group.num_rows, group.calls, times(group.time), group.own_avg, group.share);
    csv += group.costed > 0 ? fmt::format("{:.0f},{:.0f}\r\n", group.cost.flops, group.cost.bytes)
                            : ",\r\n";
  }
  for (const Remainder& rest : remainders(profile, grouping)) {
    if (!rest.has_line) continue;
    csv += fmt::format("{},,,,{},{:.3f},{:.6f},,\r\n", rest.name, times(rest.time), rest.time.avg,
                       rest.share);
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
        csv_cell(row.delegate), row.partition < 0 ? "" : std::to_string(row.partition),
        csv_cell(row.kernel), csv_cell(row.library), joined(row.source_ops), joined(row.folded_ops),
        row.inserted_for_row.has_value() ? std::to_string(*row.inserted_for_row) : "",
        joined(row.modules), fmt::join(row.debug_handles, ";"), row.calls, times(row.time),
        row.share);
  }
  for (const Remainder& rest : remainders(profile, grouping)) {
    if (!rest.has_line) continue;
    csv += fmt::format(",{},,,,,,,,,,,{},{:.6f}\r\n", rest.name, times(rest.time), rest.share);
  }
  return csv;
}

}  // namespace

std::string report_csv(const Profile& profile) { return report_csv(profile, {}); }

std::string report_csv(const Profile& profile, const View& view) {
  const auto csv_of = [&](const Profile& part) {
    const Grouping grouping = group_rows(part, view);
    return view.by == GroupBy::kNone ? rows_csv(part, grouping) : groups_csv(part, grouping);
  };
  const std::string csv = csv_of(profile);
  if (profile.queues.empty()) return csv;
  std::string all = with_queue(csv, "queue", "");
  for (const Profile& queue : profile.queues) {
    const std::string rows = csv_of(queue);
    all += with_queue(rows.substr(rows.find("\r\n") + 2), queue.queue, queue.queue);
  }
  return all;
}

}  // namespace vitrine::inspector
