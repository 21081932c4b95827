#include "inspector/join/op_names.h"

#include <algorithm>

namespace vitrine::inspector {
namespace {

struct ShortName {
  std::string_view base, name;
};
constexpr ShortName kShortNames[] = {
    {"_native_batch_norm_legit_no_training", "batch_norm"},
    {"_native_batch_norm_legit", "batch_norm"},
    {"native_layer_norm", "layer_norm"},
    {"native_group_norm", "group_norm"},
    {"max_pool2d_with_indices", "max_pool2d"},
    {"_to_dim_order_copy", "to_dim_order"},
    {"_clone_dim_order", "clone"},
    {"split_with_sizes_copy", "split"},
    {"constant_pad_nd", "pad"},
    {"quantize_per_tensor", "quantize"},
    {"quantize_per_channel", "quantize"},
    {"quantize_per_token", "quantize"},
    {"quantize_affine", "quantize"},
    {"dequantize_per_tensor", "dequantize"},
    {"dequantize_per_channel", "dequantize"},
    {"dequantize_per_token", "dequantize"},
    {"dequantize_affine", "dequantize"},
};

}  // namespace

std::string_view base_name(std::string_view name) {
  if (const size_t mark = name.find("::"); mark != std::string_view::npos) {
    name.remove_prefix(mark + 2);
    return name.substr(0, name.find('.'));
  }
  // Strips the prefix of Python's operators on symbolic integers: "_operator.mul".
  constexpr std::string_view kPython = "_operator.";
  if (name.starts_with(kPython)) return name.substr(kPython.size());
  const size_t first = name.find('.');
  if (first == std::string_view::npos) return name;
  const size_t second = name.find('.', first + 1);
  // A name with two dots is namespace.op.overload; a name with one dot is op.overload.
  return second == std::string_view::npos ? name.substr(0, first)
                                          : name.substr(first + 1, second - first - 1);
}

std::string op_of_kernel(std::string_view kernel) {
  std::string op(kernel);
  if (const size_t mark = op.find("::"); mark != std::string::npos) {
    op.replace(mark, 2, ".");
  } else {
    op.insert(0, "aten.");
  }
  if (std::count(op.begin(), op.end(), '.') == 1) op += ".default";
  return op;
}

std::string short_name(std::string_view op) {
  std::string_view name = base_name(op);
  for (const ShortName& known : kShortNames) {
    if (known.base == name) return std::string(known.name);
  }
  constexpr std::string_view kCopy = "_copy";
  if (name.ends_with(kCopy) && name.size() > kCopy.size()) name.remove_suffix(kCopy.size());
  while (name.size() > 1 && name.front() == '_') name.remove_prefix(1);
  return std::string(name);
}

}  // namespace vitrine::inspector
