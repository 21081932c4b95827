// The run-time half.
#pragma once

#include "vitrine/backend.h"

namespace third {

const vitrine::BackendInterface& runtime_backend();

}  // namespace third
