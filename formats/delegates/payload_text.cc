#include "formats/delegates/payload_text.h"

#include <algorithm>
#include <set>

#include "formats/delegates/byte_view.h"
#include "vitrine/scalar_type.h"

namespace vitrine::delegates {
namespace {

constexpr size_t kMaxOptionText = 2000;

struct DtypeSize {
  std::string_view name;
  size_t bytes;
};
constexpr DtypeSize kDtypeSizes[] = {{"bool", 1}, {"u8", 1},  {"i8", 1},   {"u16", 2},
                                     {"i16", 2},  {"f16", 2}, {"bf16", 2}, {"u32", 4},
                                     {"i32", 4},  {"f32", 4}, {"i64", 8},  {"u64", 8},
                                     {"f64", 8},  {"c32", 4}, {"c64", 8},  {"c128", 16}};

std::string option_text(const CompileOption& option, OptionKind kind) {
  const Bytes value = option.value;
  if (kind == OptionKind::kU32 && value.size() == 4) {
    return fmt::format("{}", load_little<uint32_t>(value.data()));
  }
  if (kind == OptionKind::kU64 && value.size() == 8) {
    return fmt::format("{}", load_little<uint64_t>(value.data()));
  }
  if (kind == OptionKind::kBool && value.size() == 1) {
    return value[0] == std::byte{} ? "false" : "true";
  }
  std::string_view text = text_of(value);
  if (text.ends_with('\0')) text.remove_suffix(1);
  if (text.size() <= kMaxOptionText && is_printable(text)) return std::string(text);
  return fmt::format("{} B", value.size());
}

}  // namespace

std::string name_of(std::span<const NumberName> names, int64_t number, std::string_view noun) {
  const auto found = std::ranges::find(names, number, &NumberName::number);
  if (found != names.end()) return std::string(found->name);
  return fmt::format("{} {}", noun, number);
}

size_t bytes_of_dtype(std::string_view dtype) {
  const auto* found = std::ranges::find(kDtypeSizes, dtype, &DtypeSize::name);
  return found == std::end(kDtypeSizes) ? 0 : found->bytes;
}

std::string program_dtype(int64_t number) {
  const auto type = static_cast<ScalarType>(number);
  if (number < 0 || number > 127 || !is_valid(type)) return fmt::format("dtype {}", number);
  return scalar_type_name(type);
}

std::optional<uint64_t> element_count(const std::vector<Dim>& shape) {
  uint64_t count = 1;
  for (const Dim& dim : shape) {
    if (dim.max < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(dim.max), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::optional<uint64_t> size_of_named(const NamedDataMap* data, std::string_view key) {
  if (data == nullptr) return std::nullopt;
  const auto found = data->get(key);
  if (!found.ok()) return std::nullopt;
  return found->bytes().size();
}

ConstantData named_constant(const NamedDataMap* data, std::string_view key, uint64_t expected) {
  const auto size = size_of_named(data, key);
  return {size.value_or(expected), fmt::format("named data {}", key), !size.has_value()};
}

std::vector<PayloadArgument> options_text(const PayloadInput& input,
                                          std::span<const OptionFormat> formats) {
  std::vector<PayloadArgument> options;
  for (const CompileOption& option : input.options) {
    const auto known = std::ranges::find(formats, option.key, &OptionFormat::key);
    options.push_back(
        {std::string(option.key),
         option_text(option, known == formats.end() ? OptionKind::kText : known->kind)});
  }
  return options;
}

std::string_view option_of(const PayloadInput& input, std::string_view key) {
  const auto found = std::ranges::find(input.options, key, &CompileOption::key);
  if (found == input.options.end()) return {};
  const std::string_view text = text_of(found->value);
  return is_printable(text) ? text : std::string_view();
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte < 0x7f) || c == '\n' || c == '\t';
  });
}

void finish(PayloadDescription& description) {
  for (const PayloadGraph& graph : description.graphs) {
    description.operators += graph.operators.size();
  }
  std::set<std::string_view> keys;
  for (const PayloadTensor& tensor : description.tensors) {
    if (!tensor.constant) continue;
    const std::string_view location = tensor.constant->location;
    if (location.starts_with("named data ") && !keys.insert(location).second) continue;
    ++description.constants;
    if (tensor.constant->is_missing) ++description.missing_constants;
    description.constant_bytes += tensor.constant->bytes;
  }
  if (description.missing_constants != 0) {
    description.notes.push_back(fmt::format(
        "{} of {} constants are missing: neither the program nor the given .ptd files have their "
        "keys (--data_path adds files)",
        description.missing_constants, description.constants));
  }
}

std::string tensor_text(const PayloadTensor& tensor) {
  if (!tensor.has_shape) return tensor.dtype;
  std::string text = tensor.dtype + "[";
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const Dim& dim = tensor.shape[i];
    if (i != 0) text += ',';
    text += fmt::format("{}", dim.min);
    if (dim.max < 0) text += "..";
    if (dim.max >= 0 && dim.max != dim.min) text += fmt::format("..{}", dim.max);
  }
  return text + "]";
}

}  // namespace vitrine::delegates
