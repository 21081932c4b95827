#include "inspector/join/join_notes.h"

#include <fmt/format.h>

#include <string_view>

namespace vitrine::inspector {
namespace {

void add_notes(const std::map<std::string, size_t>& counts, std::string_view what,
               SourceJoin& join) {
  for (const auto& [delegate, count] : counts) {
    join.notes.push_back(fmt::format("{} operators of {}{}", count,
                                     delegate.empty() ? "a delegate" : delegate, what));
  }
}

// Warns if at least two of the compared items mismatch and the share of mismatches exceeds `max`.
void warn(size_t mismatched, size_t compared, double max, const char* what, SourceJoin& join) {
  if (mismatched < 2 || static_cast<double>(mismatched) <= max * static_cast<double>(compared)) {
    return;
  }
  join.warnings.push_back(
      fmt::format("{} of {} {} do not match the ops in the record: is this the record of this "
                  "program?",
                  mismatched, compared, what));
}

}  // namespace

void write_notes(const JoinCounts& counts, bool has_record, SourceJoin& join) {
  if (has_record) {
    add_notes(counts.unjoined,
              " logged no identifier that is in the record: their source ops are unknown", join);
  }
  add_notes(counts.by_payload,
            ": their source ops are inferred from the payload's operators, by name and order",
            join);
  add_notes(
      counts.inferred,
      " logged no identifier that is in the record: their source ops are inferred from kernel "
      "names and order",
      join);
  // Up to 80 % of the kernels may mismatch without a warning. Lowering decomposes some ops after
  // the record is made, so the record lacks the ops that these kernels run.
  warn(counts.mismatched_kernels, counts.compared_kernels, 0.8, "kernels", join);
  warn(counts.mismatched_nodes, counts.compared_nodes, 0.5, "operators of delegates", join);
}

}  // namespace vitrine::inspector
