// Damage to the JSON of exported programs that importers take often enough: values in the place of
// others of their kind, parts left out, repeated or exchanged.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace vitrine::test {

// Values of several programs by their keys: each may replace another of its key.
class ValuePool {
 public:
  void add(const nlohmann::json& program);
  // Null if the key has no value.
  const nlohmann::json* any(const std::string& key, std::mt19937& random) const;

 private:
  std::map<std::string, std::vector<nlohmann::json>> values_;
};

// Changes one place. The same for the same state of `random`, on all machines.
void damage(nlohmann::json& program, const ValuePool& pool, std::mt19937& random);

}  // namespace vitrine::test
