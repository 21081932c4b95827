// The operators of TOSA, which TOSA and VGF payloads number in the same order.
#pragma once

#include <cstdint>
#include <string>

namespace vitrine::delegates::tosa {

// The name of operator `number` of the SPIR-V instruction set TOSA.001000.1; a TOSA flatbuffer has
// numbers that are larger by 1. "operator 99" for an unknown number.
std::string operator_name(uint32_t number);

}  // namespace vitrine::delegates::tosa
