// Damages the JSON of exported programs in ways that importers often accept: replaces a
// value with another value of the same key, and removes, repeats or swaps items.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace vitrine::test {

// Values of programs, by their JSON key. A value may replace any other value of the same key.
class ValuePool {
 public:
  void add(const nlohmann::json& program);
  // Returns a random value with this key. Returns null if the programs do not have this key.
  const nlohmann::json* any(const std::string& key, std::mt19937& random) const;

 private:
  std::map<std::string, std::vector<nlohmann::json>> values_;
};

// Changes the program at one location. The same state of `random` causes the same changes on all
// machines.
void damage(nlohmann::json& program, const ValuePool& pool, std::mt19937& random);

}  // namespace vitrine::test
