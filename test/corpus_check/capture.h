// Checks that capturing the values of operators changes no output, and gets every value.
#pragma once

#include "test/corpus_check/case_runner.h"

namespace vitrine::corpus {

// Runs the case without capture, with all values in full, and with summaries of values. Fails if an
// output differs in a bit, or if an operator of a delegate or a kernel has no value. If the case
// passes, CaseResult::reason states the number of bytes in both capture buffers.
CaseResult check_capture(const Case& test_case, const RunOptions& options);

}  // namespace vitrine::corpus
