#include "formats/etdump/value_origin.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace vitrine::etdump {
namespace {

// Splits a text into words that are separated by single spaces.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  bool is_empty() const { return rest_.empty(); }
  std::string_view next() {
    const size_t end = rest_.find(' ');
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return word;
  }
  // Reads the word `name` and then a number. Returns false for any other words.
  template <class T>
  bool read(std::string_view name, T& value) {
    if (next() != name) return false;
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::string format_origin(const ValueOrigin& origin) {
  char text[128];
  const int head =
      std::snprintf(text, sizeof text, "operator %zu result %zu", origin.op, origin.result);
  std::string result(text, static_cast<size_t>(head));
  if (!origin.stored_as) return result;
  const StoredAs& stored = *origin.stored_as;
  const int tail = std::snprintf(text, sizeof text, " %s scale %.9g zero_point %d rows %zu",
                                 stored.dtype == ScalarType::kByte ? "uint8" : "int8",
                                 static_cast<double>(stored.scale), stored.zero_point, stored.rows);
  return result.append(text, static_cast<size_t>(tail));
}

std::optional<ValueOrigin> parse_origin(std::string_view text) {
  Words words(text);
  ValueOrigin origin;
  if (!words.read("operator", origin.op) || !words.read("result", origin.result)) {
    return std::nullopt;
  }
  if (words.is_empty()) return origin;
  StoredAs stored;
  const std::string_view dtype = words.next();
  if (dtype != "int8" && dtype != "uint8") return std::nullopt;
  stored.dtype = dtype == "uint8" ? ScalarType::kByte : ScalarType::kChar;
  if (!words.read("scale", stored.scale) || !words.read("zero_point", stored.zero_point) ||
      !words.read("rows", stored.rows) || !words.is_empty() || !std::isfinite(stored.scale)) {
    return std::nullopt;
  }
  origin.stored_as = stored;
  return origin;
}

}  // namespace vitrine::etdump
