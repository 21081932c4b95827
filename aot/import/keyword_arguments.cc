#include "aot/import/keyword_arguments.h"

#include <algorithm>
#include <array>

namespace vitrine::aot {
namespace {

// In every ATen schema that has it.
constexpr std::array<std::string_view, 14> kAlways = {
    "approximate", "correction", "device",        "driver", "enable_gqa", "generator", "layout",
    "pin_memory",  "out_dtype",  "rounding_mode", "side",   "sorter",     "stable",    "symmetric"};

// By argument, the operators ("*" at the end: all that begin so) that have it before the "*".
struct Positional {
  std::string_view argument;
  std::array<std::string_view, 10> operators;
};
constexpr std::array kMostly = {
    Positional{"dtype",
               {"aten.to.dtype", "aten.to.device", "aten.to.prim_dtype", "aten.softmax.int",
                "aten.log_softmax.int", "aten.view.dtype", "aten.type_as*",
                "aten._assert_tensor_metadata*", "quantized_decomposed*", "torchao*"}},
    Positional{"memory_format",
               {"aten.to.dtype", "aten.to.device", "aten.to.other", "aten.contiguous.default",
                "aten.is_contiguous*"}},
    Positional{
        "non_blocking",
        {"aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten.to.other",
         "aten.to.prim*", "aten.copy.default", "aten.copy_.default", "aten.cpu*", "aten.cuda*"}},
    Positional{"alpha",
               {"aten.add.Scalar", "aten.sub.Scalar", "aten.rsub.Scalar", "aten.add_.Scalar",
                "aten.sub_.Scalar", "aten.elu*", "aten.celu*", "aten.elu_*", "aten.celu_*"}},
    Positional{"beta", {"aten.softplus*", "aten.smooth_l1_loss*"}},
};

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return !pattern.empty() && name == pattern;
}

// Names that are positional in all other operators.
struct Keyword {
  std::string_view argument;
  std::string_view op;
  std::string_view overload;  // empty: all
};
constexpr std::array kRarely = {
    Keyword{"value", "addcmul", ""},
    Keyword{"value", "addcdiv", ""},
    Keyword{"value", "addcmul_", ""},
    Keyword{"value", "addcdiv_", ""},
    Keyword{"keepdim", "var", "correction"},
    Keyword{"keepdim", "std", "correction"},
    Keyword{"keepdim", "var_mean", "correction"},
    Keyword{"keepdim", "std_mean", "correction"},
    Keyword{"scale", "scaled_dot_product_attention", ""},
};

}  // namespace

bool is_keyword_only(Target target, std::string_view argument) {
  if (target.dialect() != Dialect::kAten) return false;
  if (std::ranges::count(kAlways, argument) != 0) return true;
  for (const Keyword& row : kRarely) {
    if (row.argument == argument && row.op == target.op() &&
        (row.overload.empty() || row.overload == target.overload())) {
      return true;
    }
  }
  for (const Positional& row : kMostly) {
    if (row.argument != argument) continue;
    return std::ranges::none_of(
        row.operators, [&](std::string_view pattern) { return matches(target.name(), pattern); });
  }
  return false;
}

}  // namespace vitrine::aot
