// Which of the plans that a delegate logged describes the operators that ran.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "inspector/join/trace_rows.h"

namespace vitrine::inspector {

struct PlanChoice {
  const DelegateProfile* profile = nullptr;  // whose plan it is, or would have been
  DelegatePlan plan;
  std::string why_none;  // of the oldest plan; empty if one was chosen
};

// The newest of `plans` (at least one) that describes exactly the operators of a call.
// `identifiers` are the integers that these logged, in order.
PlanChoice choose_plan(std::span<const PlanText> plans, std::span<const int32_t> identifiers);

}  // namespace vitrine::inspector
