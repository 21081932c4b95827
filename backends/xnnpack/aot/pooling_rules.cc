#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

std::optional<Refusal> check_images(const Candidate& candidate) {
  if (candidate.input().rank() == 4) return {};
  return Refusal{"the input is not a batch of images", "give it four dims"};
}

// XNNPACK scales by the ratio of the sizes.
bool is_ratio(const Argument& scale, const SymInt& from, const SymInt& to) {
  if (!from.is_static() || !to.is_static()) return false;
  const auto* real = scale.get<double>();
  const auto* whole = scale.get<int64_t>();
  if (real == nullptr && whole == nullptr) return false;
  const double factor = real != nullptr ? *real : static_cast<double>(*whole);
  return static_cast<double>(from.value()) * factor == static_cast<double>(to.value());
}

// Whether XNNPACK 4ea82e5 computes a pool with a dilated dim. For a tap in the padding it reads the
// tap that would be the window's first if the padding were less than the dilation, and that tap may
// be beyond the input.
bool may_be_dilated(const SymInt& size, int64_t kernel, int64_t stride, int64_t padding,
                    int64_t dilation, bool ceil_mode) {
  constexpr int64_t kMost = 1 << 20;  // products stay in range
  if (padding < 0 || padding > kMost) return false;
  for (const int64_t number : {kernel, stride, dilation}) {
    if (number < 1 || number > kMost) return false;
  }
  const int64_t shift = padding % dilation;
  if (shift > 0 && size.is_static() && dilation - shift >= size.value()) return false;
  const int64_t overhang = ceil_mode ? stride - 1 : 0;
  return 2 * padding - shift + overhang <= dilation * (kernel - 1);
}

std::optional<Refusal> check_window(const std::vector<int64_t>& kernel) {
  if (kernel.size() != 2) return Refusal{"its window is unknown", ""};
  if (kernel[0] == 1 && kernel[1] == 1) return Refusal{"the window is one element", ""};
  return {};
}

}  // namespace

std::optional<Refusal> check_average_pool(const Candidate& candidate) {
  const Node& node = candidate.node;
  const std::vector<int64_t> kernel = Call(node).integers("kernel_size", 2);
  if (auto refusal = check_window(kernel)) return refusal;
  if (Call(node).boolean("ceil_mode")) {
    return Refusal{"ceil_mode is set", "pad its input instead"};
  }
  if (Call(node).boolean("count_include_pad")) {
    return Refusal{"it counts padded elements", "set count_include_pad to False"};
  }
  int64_t area = 0;
  if (__builtin_mul_overflow(kernel[0], kernel[1], &area)) {
    return Refusal{"its window is too large", ""};
  }
  if (Call(node).integer("divisor_override", area) != area) {
    return Refusal{"the divisor is not the size of the window", "leave out the divisor"};
  }
  // XNNPACK divides by the number of elements that are not padding.
  if (Call(node).find("divisor_override") != nullptr &&
      Call(node).integers("padding", 2) != std::vector<int64_t>{0, 0}) {
    return Refusal{"the divisor counts padded elements", "leave out the divisor"};
  }
  return check_images(candidate);
}

std::optional<Refusal> check_max_pool(const Candidate& candidate) {
  const Node& node = candidate.node;
  const std::vector<int64_t> kernel = Call(node).integers("kernel_size", 2);
  const std::vector<int64_t> stride = pooling_strides(node, kernel);
  if (auto refusal = check_window(kernel)) return refusal;
  if (stride[0] > kernel[0] || stride[1] > kernel[1]) {
    return Refusal{"its stride is larger than its window", "slice its input"};
  }
  if (Call(node).boolean("ceil_mode") && !candidate.input().is_static()) {
    return Refusal{"ceil_mode is set, and sizes are known only when the program runs",
                   "export it with fixed sizes"};
  }
  if (auto refusal = check_images(candidate)) return refusal;
  const std::vector<int64_t> padding = Call(node).integers("padding", 2);
  const std::vector<int64_t> dilation = Call(node).integers("dilation", 2);
  if (dilation == std::vector<int64_t>{1, 1}) return {};
  for (size_t i = 0; i < 2; ++i) {
    if (!may_be_dilated(candidate.input().sizes[2 + i], kernel[i], stride[i], padding[i],
                        dilation[i], Call(node).boolean("ceil_mode"))) {
      return Refusal{"XNNPACK would read outside its input, since it is dilated and padded",
                     "pad its input before it"};
    }
  }
  return {};
}

std::optional<Refusal> check_max_dim(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (auto refusal = check_images(candidate)) return refusal;
  for (const Node* user : node.users()) {
    if (!user->calls(getitem()) || item_index(*user) != 0) {
      return Refusal{"its indices are used", "use amax where only the values are needed"};
    }
  }
  const size_t dim = wrapped_dim(node, Call(node).integer("dim"), 4);
  if (dim < 2) return Refusal{"it is not over a height or a width", ""};
  if (!Call(node).boolean("keepdim")) {
    return Refusal{"the result has fewer dims", "set keepdim to True"};
  }
  if (!candidate.input().sizes[dim].is_static()) {
    return Refusal{"the size that it is over is known only when the program runs", ""};
  }
  if (candidate.input().sizes[dim] == SymInt(1)) return Refusal{"it is over one element", ""};
  return {};
}

std::optional<Refusal> check_mean(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (auto refusal = check_images(candidate)) return refusal;
  std::vector<size_t> dims;
  for (const int64_t dim : Call(node).integers("dim")) dims.push_back(wrapped_dim(node, dim, 4));
  std::ranges::sort(dims);
  if (dims != std::vector<size_t>{2, 3}) {
    return Refusal{"it is not over heights and widths", "average over the last two dims"};
  }
  if (!Call(node).boolean("keepdim")) {
    return Refusal{"its result has fewer dims", "set keepdim to True"};
  }
  if (Call(node).find("dtype") != nullptr) return Refusal{"it converts to a dtype", ""};
  return {};
}

std::optional<Refusal> check_upsample(const Candidate& candidate) {
  if (!spec_of(candidate.node).is_static()) {
    return Refusal{"its result's size is known only when the program runs",
                   "export it with fixed sizes"};
  }
  if (auto refusal = check_images(candidate)) return refusal;
  const Call call(candidate.node);
  const bool has_aligned_corners = call.boolean("align_corners");
  const Argument* scales = call.find("scale_factors");
  if (scales == nullptr || scales->list() == nullptr || has_aligned_corners) return {};
  const TensorSpec& input = candidate.input();
  const TensorSpec& result = spec_of(candidate.node);
  for (size_t i = 0; i < std::min<size_t>(scales->list()->size(), 2); ++i) {
    if (!is_ratio((*scales->list())[i], input.sizes[2 + i], result.sizes[2 + i])) {
      return Refusal{"the scale is not the ratio of the sizes", "give it the output's size"};
    }
  }
  return {};
}

// Also of hardtanh.
std::optional<Refusal> check_clamp(const Candidate& candidate) {
  const Node& node = candidate.node;
  const Call call(node);
  const bool is_clamp = calls_op(node, "clamp.default");
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  const double low = call.real(is_clamp ? "min" : "min_val", -kUnbounded);
  const double high = call.real(is_clamp ? "max" : "max_val", kUnbounded);
  if (static_cast<float>(low) <= static_cast<float>(high)) return {};
  return Refusal{"its lower bound is not below its upper one", ""};
}

}  // namespace vitrine::aot::xnnpack
