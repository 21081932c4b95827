// Floating point operations of a call, by the rule in its operator's row (operators.inc).
//
// A multiplication and an addition are two, a comparison or a transcendental function is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "operators/operator.h"

namespace vitrine {

// A call as the rules see it: what they ask of its arguments, by name.
class CallSizes {
 public:
  virtual ~CallSizes() = default;
  // Elements of the first result, and of a tensor. Nothing if unknown or not given.
  virtual std::optional<double> result_elements() const = 0;
  virtual std::optional<double> elements(std::string_view argument) const = 0;
  // Sizes of a tensor. Empty if unknown, not given or 0-d.
  virtual std::vector<double> sizes(std::string_view argument) const = 0;
  // A list of integers, or one; booleans are 0 and 1. Empty if not given.
  virtual std::vector<int64_t> integers(std::string_view argument) const = 0;
};

// Nothing if the operator has no rule, or a size that its rule needs is unknown.
std::optional<double> count_flops(const Operator& op, const CallSizes& call);

}  // namespace vitrine
