// Small .pt2 archives for tests.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace vitrine::test {

using ArchiveMembers = std::vector<std::pair<std::string, std::string>>;

// A zip archive; stored plain unless `packed`.
std::vector<std::byte> write_zip(const ArchiveMembers& members, bool packed = false);
// The members of an archive, read by libzip.
ArchiveMembers read_zip(const std::string& path);

// y = relu(x + w), x and w f32[2]: its program's JSON, and the members around it.
std::string small_program_json();
ArchiveMembers small_pt2(const std::string& program_json);

}  // namespace vitrine::test
