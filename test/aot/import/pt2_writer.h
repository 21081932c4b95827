// Writes small .pt2 archives for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace vitrine::test {

using ArchiveMembers = std::vector<std::pair<std::string, std::string>>;

// Writes a zip archive. Members are stored without compression unless `compressed` is true.
std::vector<std::byte> write_zip(const ArchiveMembers& members, bool compressed = false);
// Reads the members of an archive with libzip.
ArchiveMembers read_zip(const std::string& path);

// The JSON of parts of a program.
nlohmann::json integer_json(int64_t value);
nlohmann::json tensor_json(const std::string& name);  // a reference to a tensor
// The dtype has PyTorch's number. Sizes and strides are integers or expressions.
nlohmann::json meta_json(int dtype, const std::vector<nlohmann::json>& sizes,
                         const std::vector<nlohmann::json>& strides, bool requires_grad = false);
nlohmann::json argument_json(const std::string& name, nlohmann::json value);
nlohmann::json node_json(const std::string& target, const std::vector<nlohmann::json>& arguments,
                         const std::string& output);

// The JSON of a program that computes relu(x + w), where x and w are f32[2].
std::string small_program_json();
// Returns the members of a .pt2 archive that contains the weight w and the program with this JSON.
ArchiveMembers small_pt2(const std::string& program_json);

}  // namespace vitrine::test
