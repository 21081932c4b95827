// Reads JSON files, and checks members of JSON objects.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace vitrine::test {

inline nlohmann::json read_json(const std::filesystem::path& file) {
  return nlohmann::json::parse(std::ifstream(file));
}

// Expects that `object` has all members of the JSON object `expected`, with equal values.
inline void expect_members(const nlohmann::json& object, const char* expected) {
  const auto members = nlohmann::json::parse(expected);
  for (const auto& [key, value] : members.items()) EXPECT_EQ(object.at(key), value) << key;
}

}  // namespace vitrine::test
