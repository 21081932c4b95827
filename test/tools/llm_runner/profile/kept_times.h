#pragma once

#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

// Expects that each kept step of the JSON report has the rows and the unattributed time of the
// traces, and that these, together with the other parts of the step, add up to its wall time.
void expect_kept_add_up(const TokenProfile& profile);

}  // namespace vitrine::llm
