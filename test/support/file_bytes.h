// Reads files into memory that is aligned for programs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/support/program_builder.h"

namespace vitrine::test {

inline AlignedBytes read_file_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  AlignedBytes bytes(std::filesystem::file_size(path));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) std::abort();
  return bytes;
}

}  // namespace vitrine::test
