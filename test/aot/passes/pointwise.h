// Compares unary element-wise operators with their formulas.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {

struct PointwiseFormula {
  const char* target;
  ArgumentList rest;
  std::function<double(double)> formula;
};

// Compares the operator with its formula at kPoints.
inline void expect_formulas(const std::vector<PointwiseFormula>& formulas) {
  const auto count = static_cast<int64_t>(kPoints.size());
  for (const PointwiseFormula& test : formulas) {
    SCOPED_TRACE(test.target);
    Values expected;
    for (const double x : kPoints) expected.push_back(test.formula(x));
    expect_near(run({floats({count}, kPoints)}, one(test.target, test.rest))[0], expected);
  }
}

}  // namespace vitrine::aot
