// A profile for people: a head, a row an operator, totals. UTF-8.
#pragma once

#include <cstddef>
#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/grouping.h"

namespace vitrine::inspector {

struct TableOptions {
  size_t width = 100;  // columns; 80 at least. Long names are cut from the left, numbers never.
  bool color = false;  // ANSI; the caller knows whether this goes to a terminal
  View view = {};
  bool costs =
      false;  // adds GFLOP/s, GB/s, and the share of what the machine can do if that is known
  bool ids = false;  // adds instruction, delegate debug identifier and debug handles
};

std::string report_table(const Profile& profile, const TableOptions& options = {});

}  // namespace vitrine::inspector
