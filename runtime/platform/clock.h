// The one clock: nanoseconds of CLOCK_MONOTONIC. XNNPACK stamps its operators with the same one.
#pragma once

#include <cstdint>

namespace vitrine::platform {

uint64_t now_ns();

}  // namespace vitrine::platform
