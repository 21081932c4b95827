#pragma once

#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

// Checks each kept step of the JSON report. The total time of the rows and the unattributed time
// must equal those in the step's profile. With the times of the step's other parts, they must add
// up to its wall time.
void expect_kept_add_up(const TokenProfile& profile);

}  // namespace vitrine::llm
