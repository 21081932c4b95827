#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace vitrine::tools {

inline constexpr double kPercent = 100;

// Returns null for infinity and NaN, which JSON cannot represent.
inline nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace vitrine::tools
