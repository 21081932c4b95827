// Runs a case: every call, in order, on one loaded instance of each method.
#pragma once

#include <span>
#include <string>

#include "runtime/backend/backend.h"
#include "test/corpus_check/case_file.h"

namespace vitrine::corpus {

struct CaseResult {
  enum class Status : uint8_t { kPassed, kFailed, kSkipped };
  Status status = Status::kPassed;
  double max_abs = 0;
  double max_rel = 0;
  std::string reason;  // of a failure or skip
};

// `threads` and `backend_options` as in tools::SessionOptions.
CaseResult run_case(const Case& which, size_t threads,
                    std::span<const BackendOption> backend_options = {});

}  // namespace vitrine::corpus
