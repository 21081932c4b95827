// Lowers an exported model as pte_lower does, for tests and fuzzing.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vitrine::test {

enum class LoweringPath { kNoBackend, kXnnpack, kDemo };

// Imports the archive, lowers it to a program and an ETRecord, and reads both back. Returns the
// text of the AotError, or an empty string on success. Other exceptions propagate, since they are
// defects. Throws std::logic_error if the runtime rejects the program or if it violates a rule of
// the format.
std::string attempt_lowering(std::span<const std::byte> pt2, LoweringPath path);

}  // namespace vitrine::test
