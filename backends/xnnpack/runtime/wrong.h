// The error of a blob that is not sound.
#pragma once

#include "vitrine/error.h"

namespace vitrine::xnnpack {

// InvalidProgram; messages are cut at 255 characters.
[[gnu::format(printf, 1, 2)]] Error wrong(const char* format, ...);

}  // namespace vitrine::xnnpack
