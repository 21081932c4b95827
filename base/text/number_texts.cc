#include "base/text/number_texts.h"

#include <fmt/format.h>

#include <algorithm>

namespace vitrine::inspector {
namespace {

constexpr double kUs = 1e3, kMs = 1e6, kSecond = 1e9;

}  // namespace

std::string Unit::text(double value) const { return fmt::format("{:.{}f}", value / ns, decimals); }

std::string Unit::with_name(double value) const { return fmt::format("{} {}", text(value), name); }

Unit unit_for(double value) {
  if (value < 10 * kUs) return {kUs, "us", 2};
  if (value < kMs) return {kUs, "us", 1};
  if (value < 100 * kMs) return {kMs, "ms", 2};
  if (value < 10 * kSecond) return {kMs, "ms", 1};
  return {kSecond, "s", 2};
}

Unit unit_for_ticks(double ticks) {
  if (ticks < 1e5) return {1, "ticks", 0};
  if (ticks < 1e8) return {1e3, "kticks", 1};
  return {1e6, "Mticks", 1};
}

Unit unit_for_rows(double wall) {
  if (wall < 100 * kUs) return {kUs, "us", 2};
  if (wall < 100 * kMs) return {kUs, "us", 1};
  return {kMs, "ms", wall < kSecond ? 3 : 2};
}

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace vitrine::inspector
