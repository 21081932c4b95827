// Texts, dtypes and constants that several readers share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/delegate_reader.h"

namespace vitrine::delegates {

// A number of a format's enum and its name.
struct NumberName {
  int64_t number;
  std::string_view name;
};

// Returns "dtype 77" for a number that the table lacks, with `noun` "dtype".
std::string name_of(std::span<const NumberName> names, int64_t number, std::string_view noun);

// Bytes per element of a dtype name as readers write it ("f32"); 0 if unknown or below one byte.
size_t bytes_of_dtype(std::string_view dtype);
// The name of a dtype that is numbered as in programs; "dtype 77" for an unknown number.
std::string program_dtype(int64_t number);

// Returns nullopt if the product overflows or the shape has a dimension without upper bound.
std::optional<uint64_t> element_count(const std::vector<Dim>& shape);

// "[1, 2, … 40 in all]"
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

// "%3"; the index of a tensor.
inline std::string tensor_name(size_t index) { return fmt::format("%{}", index); }

// Returns the size of a key of named data. `data` may be null.
std::optional<uint64_t> size_of_named(const NamedDataMap* data, std::string_view key);
// Describes a constant that is stored under a key. `expected` is its size if the key is absent.
ConstantData named_constant(const NamedDataMap* data, std::string_view key, uint64_t expected);

// How the value of a compile option is stored.
enum class OptionKind : uint8_t { kText, kU32, kBool, kU64 };
struct OptionFormat {
  std::string_view key;
  OptionKind kind;
};
// Prints options. A key that the table lacks is printed as text if it is printable, else by size.
std::vector<PayloadArgument> options_text(const PayloadInput& input,
                                          std::span<const OptionFormat> formats = {});
// Returns the text of an option; empty if it is absent or not printable.
std::string_view option_of(const PayloadInput& input, std::string_view key);

bool is_printable(std::string_view text);

}  // namespace vitrine::delegates
