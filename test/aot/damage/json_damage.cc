#include "test/aot/damage/json_damage.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace vitrine::test {
namespace {

using nlohmann::json;

constexpr size_t kMaxValuesPerKey = 128;
constexpr size_t kMaxValueLength = 2000;  // in characters

// The location of a JSON value. `key` is the key of the value, or of the list that contains the
// value.
struct JsonLocation {
  json::json_pointer pointer;
  std::string key;
  bool is_item = false;  // true if it is an item of a list
};

void collect(const json& value, const JsonLocation& at, std::vector<JsonLocation>& locations) {
  locations.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) collect(item, {at.pointer / key, key}, locations);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i)
      collect(value[i], {at.pointer / i, at.key, true}, locations);
  }
}

// Returns all locations in one section of the program. The section is chosen at random from those
// that lowering reads.
std::vector<JsonLocation> locations_in_random_section(const json& program, std::mt19937& random) {
  static const std::vector<std::string> kSections = {
      "/graph_module/graph/nodes",  "/graph_module/graph/nodes",
      "/graph_module/graph/nodes",  "/graph_module/graph/tensor_values",
      "/graph_module/graph/inputs", "/graph_module/graph/outputs",
      "/graph_module/signature",    "/graph_module/graph/sym_int_values",
      "/range_constraints",         "/graph_module"};
  std::vector<JsonLocation> locations;
  const json::json_pointer section(kSections[random() % kSections.size()]);
  if (!program.contains(section)) return locations;
  JsonLocation root{section, section.back()};
  collect(program[section], root, locations);
  return locations;
}

const std::vector<json>& hostile_values() {
  static const std::vector<json> kValues = {nullptr,
                                            0,
                                            1,
                                            -1,
                                            2,
                                            7,
                                            64,
                                            1000000,
                                            int64_t{1} << 31,
                                            int64_t{1} << 40,
                                            std::numeric_limits<int64_t>::max(),
                                            std::numeric_limits<int64_t>::min(),
                                            0.5,
                                            1e300,
                                            "",
                                            "x",
                                            "Symbol('s0', integer=True)",
                                            "Mul(Symbol('s0'), Symbol('s0'))",
                                            true,
                                            false,
                                            json::array(),
                                            json::object(),
                                            {{"as_int", -1}},
                                            {{"as_int", 0}},
                                            {{"as_int", int64_t{1} << 40}},
                                            {{"as_none", true}},
                                            {{"as_bool", true}},
                                            {{"as_float", 0.5}},
                                            {{"as_ints", json::array()}},
                                            {{"as_ints", json::array({-1, 0, int64_t{1} << 33})}}};
  return kValues;
}

void change_list(json& list, size_t at, std::mt19937& random) {
  switch (random() % 3) {
    case 0:
      list.erase(at);
      break;
    case 1: {
      const json copy = list[at];
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(random() % list.size()), copy);
      break;
    }
    default: {
      const size_t other = random() % list.size();
      if (other != at) list[at].swap(list[other]);
      break;
    }
  }
}

}  // namespace

void ValuePool::add(const json& program) {
  std::vector<JsonLocation> locations;
  collect(program, JsonLocation(), locations);
  for (const JsonLocation& location : locations) {
    std::vector<json>& known = values_[location.key];
    const json& value = program[location.pointer];
    if (known.size() >= kMaxValuesPerKey || std::ranges::count(known, value) != 0) continue;
    if (value.is_structured() && value.dump().size() > kMaxValueLength) continue;
    known.push_back(value);
  }
}

const json* ValuePool::any(const std::string& key, std::mt19937& random) const {
  const auto found = values_.find(key);
  if (found == values_.end() || found->second.empty()) return nullptr;
  return &found->second[random() % found->second.size()];
}

void damage(json& program, const ValuePool& pool, std::mt19937& random) {
  const std::vector<JsonLocation> locations = locations_in_random_section(program, random);
  if (locations.empty()) return;
  const JsonLocation& location = locations[random() % locations.size()];
  json& value = program[location.pointer];
  const uint32_t kind = random() % 8;
  if (kind < 4) {
    if (const json* other = pool.any(location.key, random)) value = *other;
  } else if (kind == 4) {
    const std::vector<json>& values = hostile_values();
    value = values[random() % values.size()];
  } else if (kind == 5 && value.is_number_integer()) {
    value = value.get<int64_t>() / 2 + (random() % 2 == 0 ? 1 : -1);
  } else if (location.is_item) {
    const size_t at = std::stoul(location.pointer.back());
    change_list(program[location.pointer.parent_pointer()], at, random);
  } else if (!location.pointer.empty()) {
    program[location.pointer.parent_pointer()].erase(location.pointer.back());
  }
}

}  // namespace vitrine::test
