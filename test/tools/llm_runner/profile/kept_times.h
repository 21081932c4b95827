#pragma once

#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

// Expects that each kept step of the JSON report has the rows and the unattributed time of the
// traces, and that these times, together with the other times of the step, add up to the step's
// wall time.
void expect_kept_add_up(const TokenProfile& profile);

}  // namespace vitrine::llm
