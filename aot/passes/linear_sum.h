// Linear integer expressions over axes, run-time numbers and sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace vitrine::aot {

// A constant plus a sum of coefficient * term. A term is an index along an axis ("axis 0"), a
// number that a node computes ("%input_pos"), or a size ("s0"). Axis 0 is the last dim, so the axes
// of broadcast operands match.
struct LinearSum {
  int64_t constant = 0;
  std::map<std::string, int64_t> terms;  // term -> coefficient
  friend bool operator==(const LinearSum&, const LinearSum&) = default;

  static LinearSum axis(size_t from_last);
  bool has_axes() const;
};

// True if |value| <= 2^31. Sums with larger numbers count as unknown, so that nothing overflows.
bool is_small(int64_t value);
// Returns a + factor * b. Empty if the sum has a number that is too large, or more than 16 terms.
std::optional<LinearSum> combined(LinearSum a, const LinearSum& b, int64_t factor);

// True if the sum cannot be negative. Assumes that axes, sizes and positions are never negative.
bool is_never_negative(const LinearSum& sum);

// Replaces every axis in the sum with map_axis(axis). Empty if map_axis returns an empty result.
template <class MapAxis>
std::optional<LinearSum> with_axes(const LinearSum& sum, const MapAxis& map_axis) {
  LinearSum result;
  result.constant = sum.constant;
  for (const auto& [term, coefficient] : sum.terms) {
    LinearSum replaced;
    replaced.terms[term] = 1;
    if (term.starts_with("axis ")) {
      const std::optional<LinearSum> mapped = map_axis(std::stoul(term.substr(5)));
      if (!mapped) return std::nullopt;
      replaced = *mapped;
    }
    const std::optional<LinearSum> next = combined(std::move(result), replaced, coefficient);
    if (!next) return std::nullopt;
    result = *next;
  }
  return result;
}

}  // namespace vitrine::aot
