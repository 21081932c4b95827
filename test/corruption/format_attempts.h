// Use a file of the developer tools' formats in all ways that a user would. Each returns the
// error's text, or nothing if the file was accepted. The fuzz targets run them too.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vitrine::test {

// Reads it, gives its tensors data, and puts each into logical order.
std::string attempt_etdump(std::span<const std::byte> bytes);
// Reads what the join needs, then all members.
std::string attempt_etrecord(std::span<const std::byte> bytes);
// An ETRecord's reference outputs.
std::string attempt_recorded_tensors(std::span<const std::byte> bytes);
// Reads it and writes the result.
std::string attempt_bundled_program(std::span<const std::byte> bytes);
// Loads it, and reads every entry.
std::string attempt_flat_tensor(std::span<const std::byte> bytes);

}  // namespace vitrine::test
