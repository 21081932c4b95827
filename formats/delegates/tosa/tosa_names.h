#pragma once

#include <cstdint>
#include <string>

namespace vitrine::delegates::tosa {

// Returns the name of an operator by its number in the SPIR-V instruction set TOSA.001000.1, or
// "operator 99" for an unknown number. Numbers in TOSA flatbuffers are larger by 1.
std::string operator_name(uint32_t number);

}  // namespace vitrine::delegates::tosa
