#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/delegate_reader.h"

namespace vitrine::delegates {

struct NumberName {
  int64_t number;
  std::string_view name;
};

// Returns the name of a number, or `noun` and the number, such as "dtype 77".
std::string name_of(std::span<const NumberName> names, int64_t number, std::string_view noun);

// Returns the bytes per element of a dtype such as "f32". 0 if unknown or less than a byte.
size_t bytes_of_dtype(std::string_view dtype);
// Returns a dtype's name by its number in program files, such as "f32" or "dtype 77".
std::string program_dtype(int64_t number);

// Returns the product of the upper bounds. Empty on overflow and for unbounded dimensions.
std::optional<uint64_t> element_count(const std::vector<Dim>& shape);

// Returns the items as text, such as "[1, 2]". Shows at most 8 items; a longer list ends with the
// number of all items, such as "… 40 in all]".
template <class List, class Text>
std::string list_text(const List& items, const Text& item_text) {
  constexpr size_t kShown = 8;
  std::string text = "[";
  size_t count = 0;
  for (const auto& item : items) {
    if (count == kShown) return text + fmt::format(", … {} in all]", items.size());
    text += (count++ == 0 ? "" : ", ") + item_text(item);
  }
  return text + "]";
}
template <class T>
std::string numbers_text(const std::vector<T>& items) {
  return list_text(items, [](T item) {
    if constexpr (std::is_floating_point_v<T>) return fmt::format("{:g}", item);
    return fmt::format("{}", item);
  });
}

// Returns the index of a tensor as a text such as "%3".
inline std::string tensor_name(size_t index) { return fmt::format("%{}", index); }

// Returns the bytes of the named data. Empty if `data` is null or lacks the key.
std::optional<uint64_t> size_of_named(const NamedDataMap* data, std::string_view key);
// Describes a constant in named data. A missing constant has the size `expected`.
ConstantData named_constant(const NamedDataMap* data, std::string_view key, uint64_t expected);

// The form in which the value of a compile option is stored.
enum class OptionKind : uint8_t { kText, kU32, kBool, kU64 };
struct OptionFormat {
  std::string_view key;
  OptionKind kind;
};
// Returns the values of the compile options as text. `formats` lists the options that are not text.
// A text that is too long or not printable becomes its size, such as "16 B".
std::vector<PayloadArgument> options_text(const PayloadInput& input,
                                          std::span<const OptionFormat> formats = {});
// Returns the text of a compile option. Empty if the option is absent or not printable.
std::string_view option_of(const PayloadInput& input, std::string_view key);

bool is_printable(std::string_view text);

}  // namespace vitrine::delegates
