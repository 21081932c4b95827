// Counts the floating-point operations of a call, using the operator's rule in operators.inc.
//
// A multiplication, an addition, a comparison and a transcendental function count as one each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "operators/operator.h"

namespace vitrine {

// The properties of a call that the FLOP rules read.
class CallSizes {
 public:
  virtual ~CallSizes() = default;
  // Number of elements of the first result, or of a tensor argument. Empty if the number is unknown
  // or the call omits the argument.
  virtual std::optional<double> result_elements() const = 0;
  virtual std::optional<double> elements(std::string_view argument) const = 0;
  // Sizes of a tensor argument. Empty if the sizes are unknown, the call omits the argument, or the
  // tensor is 0-d.
  virtual std::vector<double> sizes(std::string_view argument) const = 0;
  // Values of an argument that is a list of integers. An integer or a bool (0 or 1) counts as a
  // list with one element. Empty if the call omits the argument.
  virtual std::vector<int64_t> integers(std::string_view argument) const = 0;
};

// Returns an empty optional if the operator does not have a rule, or if the rule needs an unknown
// size.
std::optional<double> count_flops(const Operator& op, const CallSizes& call);

}  // namespace vitrine
