#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

std::optional<Rejection> check_images(const Candidate& candidate) {
  if (candidate.input().rank() == 4) return {};
  return Rejection{"the input is not a batch of images", "give the input four dims"};
}

// XNNPACK always derives the scale of a resize from the input size and the output size.
bool is_ratio(const Argument& scale, const SymInt& from, const SymInt& to) {
  if (!from.is_static() || !to.is_static()) return false;
  const auto* real = scale.get<double>();
  const auto* integer = scale.get<int64_t>();
  if (real == nullptr && integer == nullptr) return false;
  const double factor = real != nullptr ? *real : static_cast<double>(*integer);
  return static_cast<double>(from.value()) * factor == static_cast<double>(to.value());
}

// Returns true if XNNPACK 4ea82e5 can compute a pooling with this dilation along one dim. See
// check_dilated_pooling() in runtime/reader/window_shapes.cc, which checks dynamic sizes.
bool may_be_dilated(const SymInt& size, int64_t kernel, int64_t stride, int64_t padding,
                    int64_t dilation, bool ceil_mode) {
  constexpr int64_t kMax = 1 << 20;  // keeps products within 64 bits
  if (padding < 0 || padding > kMax) return false;
  for (const int64_t number : {kernel, stride, dilation}) {
    if (number < 1 || number > kMax) return false;
  }
  const int64_t shift = padding % dilation;
  if (shift > 0 && size.is_static() && dilation - shift >= size.value()) return false;
  const int64_t overhang = ceil_mode ? stride - 1 : 0;
  return 2 * padding - shift + overhang <= dilation * (kernel - 1);
}

std::optional<Rejection> check_window(const std::vector<int64_t>& kernel) {
  if (kernel.size() != 2) return Rejection{"its window is unknown", ""};
  if (kernel[0] == 1 && kernel[1] == 1) return Rejection{"the window is one element", ""};
  return {};
}

}  // namespace

std::optional<Rejection> check_average_pool(const Candidate& candidate) {
  const Node& node = candidate.node;
  const std::vector<int64_t> kernel = Call(node).integers("kernel_size", 2);
  if (auto rejection = check_window(kernel)) return rejection;
  if (Call(node).boolean("ceil_mode")) {
    return Rejection{"ceil_mode is set", "pad the input instead"};
  }
  if (Call(node).boolean("count_include_pad")) {
    return Rejection{"its average counts padded elements", "set count_include_pad to False"};
  }
  int64_t area = 0;
  if (__builtin_mul_overflow(kernel[0], kernel[1], &area)) {
    return Rejection{"its window is too large", ""};
  }
  if (Call(node).integer("divisor_override", area) != area) {
    return Rejection{"the divisor is not the size of the window", "leave out divisor_override"};
  }
  // XNNPACK divides by the number of elements outside of the padding.
  if (Call(node).find("divisor_override") != nullptr &&
      Call(node).integers("padding", 2) != std::vector<int64_t>{0, 0}) {
    return Rejection{"the divisor counts padded elements", "leave out divisor_override"};
  }
  return check_images(candidate);
}

std::optional<Rejection> check_max_pool(const Candidate& candidate) {
  const Node& node = candidate.node;
  const std::vector<int64_t> kernel = Call(node).integers("kernel_size", 2);
  const std::vector<int64_t> stride = pooling_strides(node, kernel);
  if (auto rejection = check_window(kernel)) return rejection;
  if (stride[0] > kernel[0] || stride[1] > kernel[1]) {
    return Rejection{"its stride is larger than its window", "slice the input"};
  }
  if (Call(node).boolean("ceil_mode") && !candidate.input().is_static()) {
    return Rejection{"ceil_mode is set, and sizes are known only when the program runs",
                     "export the model with fixed sizes"};
  }
  if (auto rejection = check_images(candidate)) return rejection;
  const std::vector<int64_t> padding = Call(node).integers("padding", 2);
  const std::vector<int64_t> dilation = Call(node).integers("dilation", 2);
  if (dilation == std::vector<int64_t>{1, 1}) return {};
  for (size_t i = 0; i < 2; ++i) {
    if (!may_be_dilated(candidate.input().sizes[2 + i], kernel[i], stride[i], padding[i],
                        dilation[i], Call(node).boolean("ceil_mode"))) {
      return Rejection{"it is dilated and padded, so XNNPACK would read outside the input",
                       "pad the input in a separate call"};
    }
  }
  return {};
}

std::optional<Rejection> check_max_dim(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (auto rejection = check_images(candidate)) return rejection;
  for (const Node* user : node.users()) {
    if (!user->calls(getitem()) || item_index(*user) != 0) {
      return Rejection{"its indices are used", "use amax if only the values are needed"};
    }
  }
  const size_t dim = wrapped_dim(node, Call(node).integer("dim"), 4);
  if (dim < 2) return Rejection{"it does not reduce height or width", ""};
  if (!Call(node).boolean("keepdim")) {
    return Rejection{"the result has fewer dims", "set keepdim to True"};
  }
  if (!candidate.input().sizes[dim].is_static()) {
    return Rejection{"the size of the reduced dim is known only when the program runs", ""};
  }
  if (candidate.input().sizes[dim] == SymInt(1))
    return Rejection{"the reduced dim has only one element", ""};
  return {};
}

std::optional<Rejection> check_mean(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (auto rejection = check_images(candidate)) return rejection;
  std::vector<size_t> dims;
  for (const int64_t dim : Call(node).integers("dim")) dims.push_back(wrapped_dim(node, dim, 4));
  std::ranges::sort(dims);
  if (dims != std::vector<size_t>{2, 3}) {
    return Rejection{"it does not average over height and width", "average over the last two dims"};
  }
  if (!Call(node).boolean("keepdim")) {
    return Rejection{"its result has fewer dims", "set keepdim to True"};
  }
  if (Call(node).find("dtype") != nullptr) return Rejection{"its dtype argument is set", ""};
  return {};
}

std::optional<Rejection> check_upsample(const Candidate& candidate) {
  if (!spec_of(candidate.node).is_static()) {
    return Rejection{"its result's size is known only when the program runs",
                     "export the model with fixed sizes"};
  }
  if (auto rejection = check_images(candidate)) return rejection;
  const Call call(candidate.node);
  const bool has_aligned_corners = call.boolean("align_corners");
  const Argument* scales = call.find("scale_factors");
  if (scales == nullptr || scales->list() == nullptr || has_aligned_corners) return {};
  const TensorSpec& input = candidate.input();
  const TensorSpec& result = spec_of(candidate.node);
  for (size_t i = 0; i < std::min<size_t>(scales->list()->size(), 2); ++i) {
    if (!is_ratio((*scales->list())[i], input.sizes[2 + i], result.sizes[2 + i])) {
      return Rejection{"its scale is not the ratio of the sizes",
                       "pass output_size instead of scale_factors"};
    }
  }
  return {};
}

std::optional<Rejection> check_clamp(const Candidate& candidate) {
  const Node& node = candidate.node;
  const Call call(node);
  const bool is_clamp = calls_op(node, "clamp.default");
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  const double low = call.real(is_clamp ? "min" : "min_val", -kUnbounded);
  const double high = call.real(is_clamp ? "max" : "max_val", kUnbounded);
  if (static_cast<float>(low) <= static_cast<float>(high)) return {};
  return Rejection{"its lower bound exceeds its upper bound", ""};
}

}  // namespace vitrine::aot::xnnpack
