#include "devtools/inspector/report_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace vitrine::inspector {
namespace {

constexpr std::string_view kHeader =
    "row,where,delegate,partition,kernel,library,source_ops,folded_ops,inserted_for_row,modules,"
    "debug_handles,calls,avg_ns,p50_ns,min_ns,p90_ns,max_ns,share";

// Quoted only where needed. A text that a spreadsheet would run as a formula is made one that it
// will not.
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

std::string_view where_name(Where where) {
  switch (where) {
    case Where::kDelegate:
      return "delegate";
    case Where::kKernel:
      return "kernel";
    case Where::kControl:
      return "control";
  }
  return "";
}

std::string times(const TimeStatistics& time) {
  return fmt::format("{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}", time.avg, time.p50, time.min, time.p90,
                     time.max);
}

}  // namespace

std::string report_csv(const Profile& profile) {
  std::string csv(kHeader);
  csv += "\r\n";
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const ProfileRow& row = profile.rows[i];
    csv += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6f}\r\n", i + 1, where_name(row.where),
        cell(row.delegate), row.partition < 0 ? "" : std::to_string(row.partition),
        cell(row.kernel), cell(row.library), joined(row.source_ops), joined(row.folded_ops),
        row.inserted_for_row.has_value() ? std::to_string(*row.inserted_for_row) : "",
        joined(row.modules), fmt::join(row.debug_handles, ";"), row.calls, times(row.time),
        row.share);
  }
  const double share = profile.wall.avg > 0 ? profile.unattributed.avg / profile.wall.avg : 0;
  csv += fmt::format(",unattributed,,,,,,,,,,,{},{:.6f}\r\n", times(profile.unattributed), share);
  return csv;
}

}  // namespace vitrine::inspector
