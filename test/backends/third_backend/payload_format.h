// A backend as somebody else would write it, from docs/writing_a_backend.md alone: it adds tensors
// and takes the greater of an element and zero. What its halves agree on:
//
// A payload is words of 32 bits: kMagic; how many inputs, operators and outputs; the number of
// elements of each value, inputs first, then operators' results; of each operator its kind, its two
// operands (the second is not read by kRelu) and the debug handle of its call; the value of each
// output. An operator's operands come before its result.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace third {

inline constexpr char kBackendId[] = "ThirdBackend";
inline constexpr uint32_t kMagic = 0x33444854;

enum class Kind : uint32_t { kAdd, kRelu };
// By Kind; as traces have them.
inline constexpr std::array<std::string_view, 2> kKernelNames = {"sum", "ramp"};

// Identifiers are texts: "call 17" for the debug handle 17.
inline constexpr std::string_view kIdentifierPrefix = "call ";

}  // namespace third
