// Damages the JSON of exported programs: replaces a value, or removes, repeats or swaps items. Most
// replacements are other values of the same key, so importers often accept them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace vitrine::test {

// JSON values of the programs that were passed to add(), grouped by key. They are used as
// replacements for values with the same key.
class ValuePool {
 public:
  void add(const nlohmann::json& program);
  // Returns a random value with this key. Returns null if the programs do not have this key.
  const nlohmann::json* any(const std::string& key, std::mt19937& random) const;

 private:
  std::map<std::string, std::vector<nlohmann::json>> values_;
};

// Changes the program at one random location. The change depends only on the arguments, so it is
// the same on all machines.
void damage(nlohmann::json& program, const ValuePool& pool, std::mt19937& random);

}  // namespace vitrine::test
