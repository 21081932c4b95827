// Writes a profile as a table for people, in UTF-8: a head, a row per operator, and totals.
#pragma once

#include <cstddef>
#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"

namespace vitrine::inspector {

struct TableOptions {
  size_t width = 100;  // in columns, at least kMinWidth
  bool color = false;  // uses ANSI colors, for terminals
  View view = {};
  bool costs = false;  // adds MFLOP, GFLOP/s, GB/s, and the share of the machine's limits if known
  bool ids = false;    // adds instruction, identifier of the operator and debug handles
};

std::string report_table(const Profile& profile, const TableOptions& options = {});

}  // namespace vitrine::inspector
