#include "tools/common/input_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

// Parses "2x16" -> {2, 16}. Returns nullopt for other texts.
std::optional<std::vector<int32_t>> parse_sizes(std::string_view text) {
  std::vector<int32_t> sizes;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  while (at != end) {
    int32_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) return std::nullopt;
    sizes.push_back(size);
    if (next != end && (*next != 'x' || next + 1 == end)) return std::nullopt;
    at = next == end ? end : next + 1;
  }
  if (sizes.empty()) return std::nullopt;
  return sizes;
}

}  // namespace

InputSpec parse_input_spec(const std::string& text, const char* option) {
  if (text == "-") return {"/dev/stdin", std::nullopt};
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, std::nullopt};
  auto sizes = parse_sizes(std::string_view(text).substr(colon + 1));
  if (!sizes) {
    throw ToolError(fmt::format("{} {}: expected a shape such as 2x16 after ':'", option, text));
  }
  const std::string file = text.substr(0, colon);
  return {file == "-" ? "/dev/stdin" : file, std::move(sizes)};
}

Array to_input(const NumpyArray& array, size_t index, const TensorInfo& info,
               const std::string& label) {
  const std::vector<int32_t> sizes = tensor_sizes(array, label);
  // Method::set_input() checks the bounds of dynamic sizes later.
  const bool fits =
      info.dynamism == ShapeDynamism::kDynamicBound || std::ranges::equal(sizes, info.sizes);
  if (array.dtype != info.dtype || sizes.size() != info.sizes.size() || !fits) {
    throw ToolError(fmt::format("{}: the array is {}, but input {} is {}", label,
                                describe(array.dtype, sizes), index,
                                describe(info.dtype, info.sizes)));
  }
  Array input = check(Array::zeros(info.dtype, sizes, info.dim_order));
  check(input.copy_from(array.bytes));
  return input;
}

Array read_input(const InputSpec& spec, size_t index, const TensorInfo& info, const char* option) {
  const std::vector<std::byte> bytes = read_file(spec.file);
  if (find_file_kind(bytes) == FileKind::kNumpyArray || spec.file.extension() == ".npy") {
    const std::string label = fmt::format("{} {}", option, spec.file.string());
    return to_input(parse_npy(bytes, label), index, info, label);
  }
  if (spec.sizes && spec.sizes->size() != info.sizes.size()) {
    throw ToolError(fmt::format("{} {}: the shape has {} dimensions, but input {} is {}", option,
                                spec.file.string(), spec.sizes->size(), index,
                                describe(info.dtype, info.sizes)));
  }
  const std::span<const int32_t> sizes =
      spec.sizes ? std::span<const int32_t>(*spec.sizes) : info.sizes;
  Array array = check(Array::zeros(info.dtype, sizes, info.dim_order));
  if (bytes.size() != array.bytes().size()) {
    throw ToolError(fmt::format(
        "{} {}: the file has {} bytes, but input {} is {} and needs {} bytes{}", option,
        spec.file.string(), bytes.size(), index, describe(info.dtype, sizes), array.bytes().size(),
        info.dynamism == ShapeDynamism::kDynamicBound && !spec.sizes
            ? fmt::format("; its shape is dynamic: give the shape as {}:2x3...", spec.file.string())
            : ""));
  }
  check(array.copy_from(bytes));
  return array;
}

}  // namespace vitrine::tools
