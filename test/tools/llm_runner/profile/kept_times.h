#pragma once

#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

// Checks each kept step of the JSON report. Its rows and its unattributed time must equal those of
// the traces. All times of the step must add up to its wall time.
void expect_kept_add_up(const TokenProfile& profile);

}  // namespace vitrine::llm
