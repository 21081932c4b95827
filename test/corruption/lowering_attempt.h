// Does with an exported model all that pte_lower does, for tests and fuzzing.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vitrine::test {

enum class LoweringPath { kNoBackend, kXnnpack, kMappingDemo };

// Imports the archive, lowers it to a program and an ETRecord, and reads both back. The text of the
// AotError, or nothing if all went well. Other exceptions escape: they are defects, as is a program
// that the runtime refuses or that breaks a rule of the format (std::logic_error).
std::string attempt_lowering(std::span<const std::byte> pt2, LoweringPath path);

}  // namespace vitrine::test
