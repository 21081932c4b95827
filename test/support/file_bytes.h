// A whole file in memory, aligned for programs.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "test/support/program_builder.h"

namespace vitrine::test {

inline AlignedBytes read_file_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) std::abort();
  const std::vector<char> chars{std::istreambuf_iterator<char>(stream), {}};
  AlignedBytes bytes(chars.size());
  std::transform(chars.begin(), chars.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

}  // namespace vitrine::test
