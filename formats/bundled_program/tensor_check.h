#pragma once

#include <string>

#include "formats/bundled_program/bundled_program.h"

namespace vitrine::bundled {

// Returns a description of the error in `tensor`, or an empty string if the tensor is valid.
std::string fault_of(const BundledTensor& tensor);

}  // namespace vitrine::bundled
