// Writes programs as ExecuTorch Native packages (.ptn), to test their reader.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::test {

// Thrown for a program that the format cannot express, such as one with dynamic shapes.
class NotExpressible : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The programs must be functional, in core ATen or the edge dialect. Writes every argument that an
// operator declares, as ExecuTorch does. Buffers of zeros are stored without data.
std::vector<std::byte> write_native(
    const std::map<std::string, aot::ExportedProgram, std::less<>>& methods);

}  // namespace vitrine::test
