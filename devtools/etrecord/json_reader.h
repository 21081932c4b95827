// Untrusted JSON, read with the path of the value in every error.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devtools/etrecord/etrecord.h"

namespace vitrine::etrecord {

// A value and where it stands. Cheap to copy; the document must outlive it.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string place)
      : value_(&value), place_(std::move(place)) {}

  const std::string& place() const { return place_; }
  bool is_null() const { return value_->is_null(); }
  bool is_string() const { return value_->is_string(); }
  bool is_array() const { return value_->is_array(); }
  bool has(const char* key) const { return value_->is_object() && value_->contains(key); }

  [[noreturn]] void fail(std::string_view what) const {
    throw EtRecordError(fmt::format("{}: {}", place_, what));
  }

  JsonValue at(const char* key) const {
    if (!value_->is_object()) fail("is not an object");
    const auto found = value_->find(key);
    if (found == value_->end()) fail(fmt::format("has no \"{}\"", key));
    return {*found, fmt::format("{}.{}", place_, key)};
  }

  const std::string& string() const {
    if (!value_->is_string()) fail("is not a string");
    return value_->get_ref<const std::string&>();
  }

  template <class T>
  T integer() const {
    // Unsigned values above the signed range do not fit any field of the format.
    if (!value_->is_number_integer()) fail("is not an integer");
    const auto value = value_->is_number_unsigned()
                           ? static_cast<int64_t>(std::min<uint64_t>(
                                 value_->get<uint64_t>(), std::numeric_limits<int64_t>::max()))
                           : value_->get<int64_t>();
    if (!std::in_range<T>(value)) fail(fmt::format("is {}, out of range", value));
    return static_cast<T>(value);
  }

  // An integer, a bool, or a list of them; what is none of these is left out.
  void append_integers(std::vector<int64_t>& integers) const {
    const auto append = [&integers](const nlohmann::json& value) {
      if (value.is_boolean()) integers.push_back(value.get<bool>() ? 1 : 0);
      if (value.is_number_integer()) integers.push_back(value.get<int64_t>());
    };
    if (!value_->is_array()) return append(*value_);
    for (const nlohmann::json& item : *value_) append(item);
  }

  // visit(item) or visit(key, item).
  template <class Visit>
  void each_item(Visit visit) const {
    if (!value_->is_array()) fail("is not a list");
    size_t index = 0;
    for (const auto& item : *value_) visit(JsonValue(item, fmt::format("{}[{}]", place_, index++)));
  }
  template <class Visit>
  void each_member(Visit visit) const {
    if (!value_->is_object()) fail("is not an object");
    for (const auto& [key, item] : value_->items()) {
      visit(key, JsonValue(item, fmt::format("{}[\"{}\"]", place_, key)));
    }
  }

 private:
  const nlohmann::json* value_;
  std::string place_;
};

// `place` names the text in errors. Takes Python's NaN and Infinity, which JSON has not, for zeros:
// nothing that the join needs is a float.
nlohmann::json parse_json(std::string text, const std::string& place);

}  // namespace vitrine::etrecord
