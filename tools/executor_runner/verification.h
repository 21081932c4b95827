// Runs test sets and compares every output with the expected output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspector/compare/tensor_difference.h"
#include "tools/common/session.h"
#include "tools/executor_runner/options.h"

namespace vitrine::tools {

struct OutputCheck {
  std::string method;
  size_t test_set = 0;
  size_t output = 0;
  std::string description;  // "f32[4,5]"
  inspector::Tolerance tolerance;
  std::optional<double> min_sqnr_db;
  std::optional<inspector::TensorDifference> difference;  // unset if shapes or kinds differ
  std::string failure;                                    // empty if the check passed
};

struct VerificationReport {
  std::string model;
  size_t test_sets = 0;
  size_t without_expected = 0;  // test sets without expected outputs: run but not compared
  std::vector<OutputCheck> checks;

  size_t failures() const;
  bool passed() const { return failures() == 0; }
};

// Verifies the program of `session`. A bundled program runs the test sets that --method_name and
// --test_set select, in order on one loaded method, because the program may have state. If
// --expected_output is given or the program is not bundled, --inputs and --expected_output form the
// only test set. Throws ToolError if a test set is invalid or cannot be run, or if there is nothing
// to compare.
VerificationReport verify(Session& session, const RunnerOptions& options);
VerificationReport verify(Session& session, const bundled::TestSuite& suite,
                          const RunnerOptions& options);

std::string verification_table(const VerificationReport& report);
// Returns JSON (docs/formats/bundled_program.md, "Running and verifying").
std::string verification_json(const VerificationReport& report);

}  // namespace vitrine::tools
