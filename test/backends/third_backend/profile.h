// How its traces are read.
#pragma once

#include "inspector/join/delegate_profile.h"

namespace third {

const vitrine::inspector::DelegateProfile& profile();

}  // namespace third
