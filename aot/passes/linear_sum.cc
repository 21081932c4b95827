#include "aot/passes/linear_sum.h"

#include <algorithm>

namespace vitrine::aot {
namespace {

constexpr size_t kMaxTerms = 16;

}  // namespace

bool is_small(int64_t value) {
  constexpr int64_t kMaxMagnitude = int64_t{1} << 31;
  return value >= -kMaxMagnitude && value <= kMaxMagnitude;
}

std::optional<LinearSum> combined(LinearSum a, const LinearSum& b, int64_t factor) {
  if (!is_small(factor)) return std::nullopt;
  a.constant += factor * b.constant;
  if (!is_small(a.constant)) return std::nullopt;
  for (const auto& [term, coefficient] : b.terms) {
    int64_t& sum = a.terms[term];
    sum += factor * coefficient;
    if (!is_small(sum)) return std::nullopt;
    if (sum == 0) a.terms.erase(term);
  }
  if (a.terms.size() > kMaxTerms) return std::nullopt;
  return a;
}

bool is_never_negative(const LinearSum& sum) {
  return sum.constant >= 0 &&
         std::ranges::all_of(sum.terms, [](const auto& term) { return term.second >= 0; });
}

LinearSum LinearSum::axis(size_t from_last) {
  LinearSum sum;
  sum.terms["axis " + std::to_string(from_last)] = 1;
  return sum;
}

bool LinearSum::has_axes() const {
  return std::ranges::any_of(terms,
                             [](const auto& term) { return term.first.starts_with("axis "); });
}

}  // namespace vitrine::aot
