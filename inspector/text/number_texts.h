// Figures as people read them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct Unit {
  double ns;
  const char* name;
  int decimals;

  std::string text(double value) const;       // of ns: "12.3"
  std::string with_name(double value) const;  // "12.3 us"
};

// For single figures: three digits or more.
Unit unit_for(double ns);
// For the columns of a table, by the wall time: rows are down to a ten-thousandth of it.
Unit unit_for_rows(double wall_ns);

std::string percent(double share);                         // 0.123 -> "12.3"
std::string counted(size_t count, std::string_view noun);  // "2 rows"

// The time that the machine needs at best (arithmetic or memory, whichever takes longer), over the
// time taken; more than 1 where data stays in caches. Unset where no limit was measured: arithmetic
// of other types than float32.
std::optional<double> share_of_limits(const Cost& cost, double ns, const MachineLimits& limits);

}  // namespace vitrine::inspector
