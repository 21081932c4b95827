// Formats figures that may be infinite or NaN, for reports.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace vitrine::tools {

inline constexpr double kPercent = 100;

// Returns a figure as JSON. Infinity and NaN become null, because JSON cannot represent them.
inline nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace vitrine::tools
