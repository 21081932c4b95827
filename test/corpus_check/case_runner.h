// Runs all calls of a case, in order, on one loaded instance of each method.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "test/corpus_check/case_file.h"
#include "vitrine/backend.h"
#include "vitrine/event_tracer.h"

namespace vitrine::corpus {

struct CaseResult {
  enum class Status : uint8_t { kPassed, kFailed, kSkipped };
  Status status = Status::kPassed;
  double max_abs = 0;
  double max_rel = 0;
  std::string reason;  // the reason of a failure or skip
};

// run_case() passes the first three members to tools::SessionOptions.
struct RunOptions {
  size_t threads = 0;
  std::vector<BackendOption> backend_options = {};
  bool optimized_kernels = true;
  EventTracer* tracer = nullptr;
  // Receives the bytes of each tensor output of each call, in order. May be null.
  std::vector<std::vector<std::byte>>* outputs = nullptr;
  // Called after the last call, while the strings of `tracer` are valid. May be null.
  std::function<void()> finish = nullptr;
};
CaseResult run_case(const Case& test_case, const RunOptions& options);

}  // namespace vitrine::corpus
