// Runs a case: every call, in order, on one loaded instance of each method.
#pragma once

#include <span>
#include <string>

#include "test/corpus_check/case_file.h"
#include "vitrine/backend.h"

namespace vitrine::corpus {

struct CaseResult {
  enum class Status : uint8_t { kPassed, kFailed, kSkipped };
  Status status = Status::kPassed;
  double max_abs = 0;
  double max_rel = 0;
  std::string reason;  // of a failure or skip
};

// As in tools::SessionOptions.
struct RunOptions {
  size_t threads = 0;
  std::vector<BackendOption> backend_options = {};
  bool optimized_kernels = true;
};
CaseResult run_case(const Case& which, const RunOptions& options);

}  // namespace vitrine::corpus
