// Uses files of the developer tools' formats as a user would. Each function returns the error, or
// an empty string if it accepts the file. The fuzz targets also call these functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vitrine::test {

// Reads an ETDump, attaches data to its tensors, and converts each to logical order.
std::string attempt_etdump(std::span<const std::byte> bytes);
// Reads all members of an ETRecord, then the parts that join a trace to its source model.
std::string attempt_etrecord(std::span<const std::byte> bytes);
// Reads a bundled program and writes it again.
std::string attempt_bundled_program(std::span<const std::byte> bytes);
// Describes the payload of a delegate that Vitrine does not run. The backend is found from the
// bytes of the payload alone.
std::string attempt_foreign_payload(std::span<const std::byte> bytes);
// Loads a .ptd file and reads every entry.
std::string attempt_flat_tensor(std::span<const std::byte> bytes);

}  // namespace vitrine::test
