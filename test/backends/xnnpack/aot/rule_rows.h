// Rows for the tests of rules: each row builds a call and gives the expected reason for rejection.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/xnnpack/aot/rules.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {

// Returns the rule that the call breaks, or an empty string if it passes all rules.
inline std::string reason_for_rejection(TestProgram& t, Node* node,
                                        uint8_t precisions = xnnpack::kAnyPrecision) {
  const xnnpack::Parameters parameters(t.program);
  const auto rejection = xnnpack::check({parameters, *node, precisions});
  return rejection ? rejection->rule : "";
}

struct RuleRow {
  const char* name;
  Node* (*make)(TestProgram& t);
  const char* reason;  // a part of the expected reason; empty if the call passes
};

inline void expect_reason(const RuleRow& row) {
  TestProgram t;
  Node* node = row.make(t);
  const std::string reason = reason_for_rejection(t, node);
  if (*row.reason == '\0') {
    EXPECT_THAT(reason, testing::IsEmpty());
  } else {
    EXPECT_THAT(reason, testing::HasSubstr(row.reason));
  }
}

inline std::string row_name(const testing::TestParamInfo<RuleRow>& info) { return info.param.name; }

inline Node* images(TestProgram& t) { return t.input("x", {1, 4, 8, 8}); }
inline const std::vector<int64_t> kOnes = {1, 1};
inline const std::vector<int64_t> kZeros = {0, 0};

}  // namespace vitrine::aot::test
