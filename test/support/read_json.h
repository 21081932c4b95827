#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace vitrine::test {

inline nlohmann::json read_json(const std::filesystem::path& file) {
  return nlohmann::json::parse(std::ifstream(file));
}

}  // namespace vitrine::test
