// Compares floats with expected values.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace vitrine::test {

// Expects that each value differs from the expected value by at most atol + rtol * |expected|.
inline void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                        double atol = 1e-4, double rtol = 1e-4) {
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], atol + rtol * std::abs(expected[i])) << "element " << i;
  }
}

}  // namespace vitrine::test
