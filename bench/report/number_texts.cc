#include "bench/report/number_texts.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace vitrine::bench {
namespace {

struct Scale {
  double size;
  const char* name;
};

// Three digits, in the largest unit that the value fills.
std::string scaled(double value, std::span<const Scale> scales) {
  const Scale* scale = &scales.back();
  for (const Scale& each : scales) {
    if (value < each.size) continue;
    scale = &each;
    break;
  }
  const double shown = value / scale->size;
  const int decimals = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}{}", shown, decimals, *scale->name == '\0' ? "" : " ", scale->name);
}

}  // namespace

std::string time_text(double ns) {
  static constexpr std::array<Scale, 4> kScales = {
      {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  return scaled(ns, kScales);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<Scale, 4> kScales = {
      {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  return scaled(bytes, kScales);
}

std::string count_text(double count) {
  static constexpr std::array<Scale, 5> kScales = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  return scaled(count, kScales);
}

std::string percent_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "";
}

}  // namespace vitrine::bench
