#pragma once

#include "llm/profile/token_profile.h"

namespace vitrine::llm {

// Each kept step of the JSON report is made of the rows and the time in Method::execute that the
// traces have, and of its parts.
void expect_kept_add_up(const TokenProfile& profile);

}  // namespace vitrine::llm
