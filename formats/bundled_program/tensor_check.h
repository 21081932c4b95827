// The rules for a bundled tensor, for readers and the writer.
#pragma once

#include <string>

#include "formats/bundled_program/bundled_program.h"

namespace vitrine::bundled {

// The error in `tensor`; empty if there is none.
std::string fault_of(const BundledTensor& tensor);

}  // namespace vitrine::bundled
