// What a bundled tensor must be, for readers and the writer alike.
#pragma once

#include <string>

#include "formats/bundled_program/bundled_program.h"

namespace vitrine::bundled {

// What is wrong with `tensor`; empty if nothing is.
std::string fault_of(const BundledTensor& tensor);

}  // namespace vitrine::bundled
