// Sums of whole numbers that are known by their terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace vitrine::aot {

// constant + the sum of factor x term. Terms are axes ("axis 0" is the last one, so that operands
// broadcast in place), nodes that are one number at run time ("%input_pos"), and sizes ("s0").
struct LinearSum {
  int64_t constant = 0;
  std::map<std::string, int64_t> terms;
  friend bool operator==(const LinearSum&, const LinearSum&) = default;

  static LinearSum axis(size_t from_last);
  bool has_axes() const;
};

// Sums of larger numbers count as unknown: nothing overflows.
bool is_small(int64_t value);
// a + factor * b; empty if it is not small, or has more terms than positions and masks have.
std::optional<LinearSum> combined(LinearSum a, const LinearSum& b, int64_t factor);

// Whether a sum is never negative, as axes, sizes and positions are not. (A cache is not written
// at a negative position.)
bool is_never_negative(const LinearSum& sum);

// Every sum with its axes renamed; axis -> sum, empty: unknown.
template <class MapAxis>
std::optional<LinearSum> with_axes(const LinearSum& sum, const MapAxis& map_axis) {
  LinearSum result;
  result.constant = sum.constant;
  for (const auto& [term, times] : sum.terms) {
    LinearSum replaced;
    replaced.terms[term] = 1;
    if (term.starts_with("axis ")) {
      const std::optional<LinearSum> mapped = map_axis(std::stoul(term.substr(5)));
      if (!mapped) return std::nullopt;
      replaced = *mapped;
    }
    const std::optional<LinearSum> next = combined(std::move(result), replaced, times);
    if (!next) return std::nullopt;
    result = *next;
  }
  return result;
}

}  // namespace vitrine::aot
