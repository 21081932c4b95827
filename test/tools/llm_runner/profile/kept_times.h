#pragma once

#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

// Checks each kept step of the JSON report. The time of all rows and the unattributed time must
// equal the times in the step's profile. All times of the step must add up to the step's wall time.
void expect_kept_add_up(const TokenProfile& profile);

}  // namespace vitrine::llm
