// Reads untrusted JSON. Every error names the path of the value.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace vitrine {

class JsonValue;

// A parsed JSON text. `source` names the text in errors.
class JsonDocument {
 public:
  // Parses a text. Throws FormatError if the text is not JSON or its nesting exceeds `max_depth`.
  // Accepts NaN, Infinity and -Infinity, which Python writes.
  JsonDocument(std::string_view text, std::string source, size_t max_depth = 200);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  JsonValue root() const;
  // Returns the path of a value, such as "model.json: nodes[3].name". Slow: use it only for errors.
  std::string path_of(const nlohmann::json& value) const;

 private:
  nlohmann::json json_;
  std::string source_;
};

// A value in a document. The document must outlive the JsonValue. An accessor throws FormatError if
// the value has another type.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, const JsonDocument& document)
      : value_(&value), document_(&document) {}

  [[noreturn]] void fail(std::string_view what) const;
  std::string path() const { return document_->path_of(*value_); }
  bool is_null() const { return value_->is_null(); }
  bool is_string() const { return value_->is_string(); }
  bool is_list() const { return value_->is_array(); }
  bool is_boolean() const { return value_->is_boolean(); }
  bool is_integer() const { return value_->is_number_integer(); }
  bool has(std::string_view key) const { return value_->is_object() && value_->contains(key); }
  bool holds(std::string_view key) const { return has(key) && !at(key).is_null(); }
  JsonValue at(std::string_view key) const;

  const std::string& string() const;
  bool boolean() const;
  double number() const;  // also accepts the strings "Infinity", "-Infinity" and "NaN"
  template <class T = int64_t>
  T integer() const {
    const int64_t value = wide_integer();
    if (!std::in_range<T>(value)) fail(fmt::format("is {}, out of range", value));
    return static_cast<T>(value);
  }
  size_t size() const;  // number of items in a list

  // Returns the key and the value of an object that has exactly one key.
  std::pair<const std::string&, JsonValue> variant() const;

  template <class Visit>
  void each_item(Visit visit) const {
    if (!value_->is_array()) fail("is not a list");
    for (const auto& item : *value_) visit(JsonValue(item, *document_));
  }
  template <class Visit>
  void each_member(Visit visit) const {
    if (!value_->is_object()) fail("is not an object");
    for (auto item = value_->begin(); item != value_->end(); ++item) {
      visit(item.key(), JsonValue(*item, *document_));
    }
  }

 private:
  int64_t wide_integer() const;

  const nlohmann::json* value_;
  const JsonDocument* document_;
};

}  // namespace vitrine
