// Checks that a capture of operator values is complete and leaves the outputs unchanged.
#pragma once

#include "test/corpus_check/case_runner.h"

namespace vitrine::corpus {

// Runs the case three times: without capture, capturing complete values, and capturing summaries of
// values. Fails if a bit of an output differs between the runs, or if the value of a delegate's
// operator or of a kernel is missing. If the case passes, CaseResult::reason states the number of
// bytes in both capture buffers.
CaseResult check_capture(const Case& test_case, const RunOptions& options);

}  // namespace vitrine::corpus
