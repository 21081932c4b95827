#include "test/aot/damage/json_damage.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace vitrine::test {
namespace {

using nlohmann::json;

constexpr size_t kMostOfAKey = 128;
constexpr size_t kLargestKept = 2000;  // characters

// A place, and the key of it or of the list that it is in.
struct Place {
  json::json_pointer pointer;
  std::string key;
  bool is_item = false;  // of a list
};

void collect(const json& value, const Place& at, std::vector<Place>& places) {
  places.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) collect(item, {at.pointer / key, key}, places);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i)
      collect(value[i], {at.pointer / i, at.key, true}, places);
  }
}

// The parts that lowering reads. Each is chosen as often, however much it holds.
std::vector<Place> places_of(const json& program, std::mt19937& random) {
  static const std::vector<std::string> kParts = {
      "/graph_module/graph/nodes",  "/graph_module/graph/nodes",
      "/graph_module/graph/nodes",  "/graph_module/graph/tensor_values",
      "/graph_module/graph/inputs", "/graph_module/graph/outputs",
      "/graph_module/signature",    "/graph_module/graph/sym_int_values",
      "/range_constraints",         "/graph_module"};
  std::vector<Place> places;
  const json::json_pointer part(kParts[random() % kParts.size()]);
  if (!program.contains(part)) return places;
  Place root{part, part.back()};
  collect(program[part], root, places);
  return places;
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
  std::vector<Place> places;
  collect(program, Place(), places);
  for (const Place& place : places) {
    std::vector<json>& known = values_[place.key];
    const json& value = program[place.pointer];
    if (known.size() >= kMostOfAKey || std::ranges::count(known, value) != 0) continue;
    if (value.is_structured() && value.dump().size() > kLargestKept) continue;
    known.push_back(value);
  }
}

const json* ValuePool::any(const std::string& key, std::mt19937& random) const {
  const auto found = values_.find(key);
  if (found == values_.end() || found->second.empty()) return nullptr;
  return &found->second[random() % found->second.size()];
}

void damage(json& program, const ValuePool& pool, std::mt19937& random) {
  const std::vector<Place> places = places_of(program, random);
  if (places.empty()) return;
  const Place& place = places[random() % places.size()];
  json& value = program[place.pointer];
  const uint32_t kind = random() % 8;
  if (kind < 4) {
    if (const json* other = pool.any(place.key, random)) value = *other;
  } else if (kind == 4) {
    const std::vector<json>& values = hostile_values();
    value = values[random() % values.size()];
  } else if (kind == 5 && value.is_number_integer()) {
    value = value.get<int64_t>() / 2 + (random() % 2 == 0 ? 1 : -1);
  } else if (place.is_item) {
    const size_t at = std::stoul(place.pointer.back());
    change_list(program[place.pointer.parent_pointer()], at, random);
  } else if (!place.pointer.empty()) {
    program[place.pointer.parent_pointer()].erase(place.pointer.back());
  }
}

}  // namespace vitrine::test
