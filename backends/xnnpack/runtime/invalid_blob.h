// The errors of a blob that breaks a rule of the format or of XNNPACK, or asks for too much work.
#pragma once

#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// InvalidProgram; messages are cut at 255 characters.
[[gnu::format(printf, 1, 2)]] Error invalid_blob(const char* format, ...);
// OutOfResources.
Error too_much_work(const Budget& steps);

}  // namespace vitrine::xnnpack
