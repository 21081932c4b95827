#include "base/json.h"

#include <algorithm>
#include <limits>

#include "base/format_error.h"

namespace vitrine {
namespace {

// Returns the maximum nesting of brackets outside strings.
size_t depth_of(std::string_view text) {
  size_t depth = 0;
  size_t deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

// Puts quotes around NaN and infinities. Python writes these values, but JSON does not allow them.
std::string quote_python_numbers(std::string_view text) {
  constexpr std::string_view kNumbers[] = {"NaN", "-Infinity", "Infinity"};
  std::string quoted;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      quoted += c;
      if (c == '\\' && i + 1 < text.size()) quoted += text[++i];
      if (c == '"') in_string = false;
      continue;
    }
    const auto number = std::ranges::find_if(
        kNumbers, [&](std::string_view n) { return text.substr(i).starts_with(n); });
    if (number != std::end(kNumbers)) {
      quoted += fmt::format("\"{}\"", *number);
      i += number->size() - 1;
    } else {
      in_string = c == '"';
      quoted += c;
    }
  }
  return quoted;
}

// Searches `value` and its descendants for the object `wanted`. If found, returns true and appends
// the keys and indices that lead to `wanted` to `path`.
bool find_path(const nlohmann::json& value, const nlohmann::json& wanted, std::string& path) {
  if (&value == &wanted) return true;
  const size_t length = path.size();
  if (value.is_object()) {
    for (auto item = value.begin(); item != value.end(); ++item) {
      path += (path.empty() ? "" : ".") + item.key();
      if (find_path(*item, wanted, path)) return true;
      path.resize(length);
    }
  } else if (value.is_array()) {
    size_t index = 0;
    for (const auto& item : value) {
      path += fmt::format("[{}]", index++);
      if (find_path(item, wanted, path)) return true;
      path.resize(length);
    }
  }
  return false;
}

}  // namespace

JsonDocument::JsonDocument(std::string_view text, std::string source, size_t max_depth)
    : source_(std::move(source)) {
  if (depth_of(text) > max_depth) {
    throw FormatError(fmt::format("{}: is nested deeper than {} levels", source_, max_depth));
  }
  try {
    const bool has_python_numbers = text.find("NaN") != std::string_view::npos ||
                                    text.find("Infinity") != std::string_view::npos;
    json_ = has_python_numbers ? nlohmann::json::parse(quote_python_numbers(text))
                               : nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("{}: is not JSON: {}", source_, error.what()));
  }
}

JsonValue JsonDocument::root() const { return {json_, *this}; }

std::string JsonDocument::path_of(const nlohmann::json& value) const {
  std::string path;
  find_path(json_, value, path);
  return path.empty() ? source_ : fmt::format("{}: {}", source_, path);
}

void JsonValue::fail(std::string_view what) const {
  throw FormatError(fmt::format("{}: {}", path(), what));
}

JsonValue JsonValue::at(std::string_view key) const {
  if (!value_->is_object()) fail("is not an object");
  const auto found = value_->find(key);
  if (found == value_->end()) fail(fmt::format("has no \"{}\"", key));
  return {*found, *document_};
}

const std::string& JsonValue::string() const {
  if (!value_->is_string()) fail("is not a string");
  return value_->get_ref<const std::string&>();
}

bool JsonValue::boolean() const {
  if (!value_->is_boolean()) fail("is not true or false");
  return value_->get<bool>();
}

double JsonValue::number() const {
  if (value_->is_string()) {
    const std::string& text = string();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  if (!value_->is_number()) fail("is not a number");
  return value_->get<double>();
}

int64_t JsonValue::wide_integer() const {
  if (!value_->is_number_integer()) fail("is not an integer");
  if (value_->is_number_unsigned() && !std::in_range<int64_t>(value_->get<uint64_t>())) {
    fail("is out of range");
  }
  return value_->get<int64_t>();
}

size_t JsonValue::size() const {
  if (!value_->is_array()) fail("is not a list");
  return value_->size();
}

std::pair<const std::string&, JsonValue> JsonValue::variant() const {
  if (!value_->is_object() || value_->size() != 1) fail("is not an object with one key");
  const auto item = value_->begin();
  return {item.key(), JsonValue(*item, *document_)};
}

}  // namespace vitrine
