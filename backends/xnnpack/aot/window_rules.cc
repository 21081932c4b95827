#include <fmt/format.h>

#include <algorithm>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

std::optional<Refusal> check_images(const Candidate& candidate) {
  if (candidate.input().rank() == 4) return {};
  return Refusal{"its input is no batch of images", "give it four dims"};
}

}  // namespace

std::optional<Refusal> check_average_pool(const Candidate& candidate) {
  const Node& node = candidate.node;
  const std::vector<int64_t> kernel = integers(node, 1, "kernel_size", 2);
  if (kernel.size() != 2) return Refusal{"its window is unknown", ""};
  if (boolean(node, 4, "ceil_mode", false)) {
    return Refusal{"ceil_mode is set", "pad its input instead"};
  }
  if (boolean(node, 5, "count_include_pad", true)) {
    return Refusal{"it counts what it pads", "set count_include_pad to False"};
  }
  int64_t area = 0;
  if (__builtin_mul_overflow(kernel[0], kernel[1], &area)) {
    return Refusal{"its window is too large", ""};
  }
  if (integer(node, 6, "divisor_override", area) != area) {
    return Refusal{"it divides by another number than its window holds", "leave out the divisor"};
  }
  return check_images(candidate);
}

std::optional<Refusal> check_max_pool(const Candidate& candidate) {
  const Node& node = candidate.node;
  const std::vector<int64_t> kernel = integers(node, 1, "kernel_size", 2);
  const std::vector<int64_t> stride = integers(node, 2, "stride", 2);
  if (kernel.size() != 2) return Refusal{"its window is unknown", ""};
  if (!stride.empty() && (stride[0] > kernel[0] || stride[1] > kernel[1])) {
    return Refusal{"its stride is larger than its window", "slice its input"};
  }
  if (boolean(node, 5, "ceil_mode", false) && !candidate.input().is_static()) {
    return Refusal{"ceil_mode is set, and sizes are known only when the program runs",
                   "export it with fixed sizes"};
  }
  return check_images(candidate);
}

std::optional<Refusal> check_max_dim(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (auto refusal = check_images(candidate)) return refusal;
  for (const Node* user : node.users()) {
    if (!user->calls(getitem()) || integer(*user, 1, "index", 0) != 0) {
      return Refusal{"its indices are used", "use amax where only the values are needed"};
    }
  }
  const size_t dim = wrapped_dim(node, integer(node, 1, "dim", 0), 4);
  if (dim < 2) return Refusal{"it is not over a height or a width", ""};
  if (!boolean(node, 2, "keepdim", false)) {
    return Refusal{"its result has a dim less", "set keepdim to True"};
  }
  if (!candidate.input().sizes[dim].is_static()) {
    return Refusal{"the size that it is over is known only when the program runs", ""};
  }
  return {};
}

std::optional<Refusal> check_mean(const Candidate& candidate) {
  const Node& node = candidate.node;
  if (auto refusal = check_images(candidate)) return refusal;
  std::vector<size_t> dims;
  for (const int64_t dim : integers(node, 1, "dim", 0)) dims.push_back(wrapped_dim(node, dim, 4));
  std::ranges::sort(dims);
  if (dims != std::vector<size_t>{2, 3}) {
    return Refusal{"it is not over heights and widths", "average over the last two dims"};
  }
  if (!boolean(node, 2, "keepdim", false)) {
    return Refusal{"its result has fewer dims", "set keepdim to True"};
  }
  if (argument(node, 3, "dtype") != nullptr) return Refusal{"it converts to a dtype", ""};
  return {};
}

std::optional<Refusal> check_upsample(const Candidate& candidate) {
  if (!spec_of(candidate.node).is_static()) {
    return Refusal{"its result's size is known only when the program runs",
                   "export it with fixed sizes"};
  }
  return check_images(candidate);
}

}  // namespace vitrine::aot::xnnpack
