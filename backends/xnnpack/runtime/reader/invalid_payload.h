// Errors for payloads that break a rule of the format or of XNNPACK, or need too much work.
#pragma once

#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Returns InvalidProgram with a message of at most 255 characters.
[[gnu::format(printf, 1, 2)]] Error invalid_payload(const char* format, ...);
// Returns OutOfResources: the payload needs more load steps than allowed.
Error too_much_work(const Budget& steps);

}  // namespace vitrine::xnnpack
