// The error of a blob that breaks a rule of the format or of XNNPACK.
#pragma once

#include "vitrine/error.h"

namespace vitrine::xnnpack {

// InvalidProgram; messages are cut at 255 characters.
[[gnu::format(printf, 1, 2)]] Error invalid_blob(const char* format, ...);

}  // namespace vitrine::xnnpack
