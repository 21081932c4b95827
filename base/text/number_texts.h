#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vitrine::inspector {

struct Unit {
  double ns;
  const char* name;
  int decimals;

  std::string text(double value) const;       // formats ns as "12.3"
  std::string with_name(double value) const;  // formats ns as "12.3 us"
};

// Returns a unit for the time `ns`. From 1 us on, text() shows at least three significant digits.
// Shorter times have two decimals: 50 ns is "0.05 us".
Unit unit_for(double ns);
// Returns a unit for a count of ticks, such as "kticks". The unit's member `ns` is a number of
// ticks, not of nanoseconds.
Unit unit_for_ticks(double ticks);
// Returns one unit for all rows of a table. If `wall_ns` is at least 10 us, the unit has enough
// decimals to show 1/1000 of `wall_ns`.
Unit unit_for_rows(double wall_ns);

std::string percent(double share);                         // 0.123 -> "12.3"
std::string counted(size_t count, std::string_view noun);  // "2 rows"

}  // namespace vitrine::inspector
