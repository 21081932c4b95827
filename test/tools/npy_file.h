// Makes the bytes of .npy files for tests.
#pragma once

#include <string>

namespace vitrine::test {

// Returns a .npy file of version 1. `elements` are in row-major order.
inline std::string npy_file(const std::string& dtype, const std::string& shape,
                            const std::string& elements) {
  std::string header =
      "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
         elements;
}

}  // namespace vitrine::test
