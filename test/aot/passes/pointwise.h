// Operators of one operand against their formulas.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {

struct PointwiseFormula {
  const char* target;
  ArgumentList rest;
  std::function<double(double)> formula;
};

// At kPoints.
inline void expect_formulas(const std::vector<PointwiseFormula>& formulas) {
  const auto count = static_cast<int64_t>(kPoints.size());
  for (const PointwiseFormula& each : formulas) {
    SCOPED_TRACE(each.target);
    Values expected;
    for (const double x : kPoints) expected.push_back(each.formula(x));
    expect_near(run({floats({count}, kPoints)}, one(each.target, each.rest))[0], expected);
  }
}

}  // namespace vitrine::aot
