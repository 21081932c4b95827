#include "aot/operators/strides.h"

#include <algorithm>
#include <numeric>

#include "runtime/core/checked_math.h"

namespace vitrine::aot {
namespace {

bool is(const SymInt& value, int64_t number) {
  return value.is_static() && value.value() == number;
}

bool all_static(const std::vector<SymInt>& values) {
  return std::ranges::all_of(values, [](const SymInt& value) { return value.is_static(); });
}

// True if the tensor's strides equal `strides`. Ignores dims of size 1, the first dim of size 0,
// and all dims after it.
bool has_strides(const TensorSpec& spec, const std::vector<SymInt>& strides) {
  for (size_t i = 0; i < spec.rank(); ++i) {
    if (is(spec.sizes[i], 0)) return true;
    if (!is(spec.sizes[i], 1) && !same(spec.strides[i], strides[i])) return false;
  }
  return true;
}

// Returns -1 if dim `a` is the inner dim, 1 if dim `a` is the outer dim, and 0 if the inputs do not
// determine the order.
int compare_dims(std::span<const TensorSpec> inputs, size_t a, size_t b) {
  for (const TensorSpec& input : inputs) {
    const SymInt& stride_a = input.strides[a];
    const SymInt& stride_b = input.strides[b];
    if (!stride_a.is_static() || !stride_b.is_static()) continue;
    if (stride_a.value() == 0 || stride_b.value() == 0) continue;
    if (stride_a.value() != stride_b.value()) return stride_a.value() < stride_b.value() ? -1 : 1;
    if (input.sizes[a].is_static() && input.sizes[b].is_static() &&
        input.sizes[a].value() > input.sizes[b].value()) {
      return 1;
    }
  }
  return 0;
}

// Returns the spec of a tensor that is broadcast to these sizes. Repeated dims have stride 0.
TensorSpec broadcast(const TensorSpec& spec, const std::vector<SymInt>& sizes) {
  TensorSpec expanded;
  expanded.sizes = sizes;
  expanded.strides.resize(sizes.size(), 0);
  const size_t added = sizes.size() - std::min(sizes.size(), spec.rank());
  for (size_t i = added; i < sizes.size(); ++i) {
    const bool repeats = is(spec.sizes[i - added], 1) && !is(sizes[i], 1);
    if (!repeats) expanded.strides[i] = spec.strides[i - added];
  }
  return expanded;
}

}  // namespace

bool is_contiguous(const TensorSpec& spec) {
  return has_strides(spec, contiguous_strides(spec.sizes));
}

std::vector<SymInt> channels_last_strides(const std::vector<SymInt>& sizes) {
  std::vector<uint8_t> order = {0};
  for (size_t i = 2; i < sizes.size(); ++i) order.push_back(static_cast<uint8_t>(i));
  order.push_back(1);
  return dense_strides(sizes, order);
}

bool is_channels_last(const TensorSpec& spec) {
  return (spec.rank() == 4 || spec.rank() == 5) && !is_contiguous(spec) &&
         has_strides(spec, channels_last_strides(spec.sizes));
}

bool is_dense(const TensorSpec& spec) {
  return has_strides(spec, dense_strides(spec.sizes, dim_order_of(spec)));
}

std::optional<std::vector<SymInt>> view_strides(const TensorSpec& spec,
                                                const std::vector<SymInt>& sizes) {
  if (is_contiguous(spec)) return contiguous_strides(sizes);
  if (same(spec.sizes, sizes)) return spec.strides;
  if (!all_static(spec.sizes) || !all_static(spec.strides) || !all_static(sizes)) return {};
  std::vector<SymInt> strides(sizes.size());
  auto at = static_cast<std::ptrdiff_t>(sizes.size()) - 1;
  int64_t base = spec.strides.empty() ? 1 : spec.strides.back().value();
  int64_t elements = 1;
  int64_t viewed = 1;
  for (size_t i = spec.sizes.size(); i-- > 0;) {
    int64_t reach = 0;
    if (mul_overflows(elements, spec.sizes[i].value(), &elements) ||
        mul_overflows(elements, base, &reach)) {
      return {};
    }
    const bool chunk_ends =
        i == 0 || (spec.sizes[i - 1].value() != 1 && spec.strides[i - 1].value() != reach);
    if (!chunk_ends) continue;
    while (at >= 0 && (viewed < elements || sizes[static_cast<size_t>(at)].value() == 1)) {
      int64_t stride = 0;
      if (mul_overflows(viewed, base, &stride) ||
          mul_overflows(viewed, sizes[static_cast<size_t>(at)].value(), &viewed)) {
        return {};
      }
      strides[static_cast<size_t>(at)] = stride;
      --at;
    }
    if (viewed != elements) return {};
    if (i > 0) {
      base = spec.strides[i - 1].value();
      elements = 1;
      viewed = 1;
    }
  }
  if (at != -1) return {};
  return strides;
}

std::vector<SymInt> elementwise_strides(std::span<const TensorSpec* const> inputs,
                                        const std::vector<SymInt>& sizes) {
  const auto has_sizes = [&](const TensorSpec* input) { return same(input->sizes, sizes); };
  if (!inputs.empty() && std::ranges::all_of(inputs, has_sizes)) {
    const bool agree = std::ranges::all_of(inputs, [&](const TensorSpec* input) {
      return same(input->strides, inputs.front()->strides);
    });
    if (agree && is_dense(*inputs.front())) return inputs.front()->strides;
    if (std::ranges::all_of(inputs,
                            [](const TensorSpec* input) { return is_contiguous(*input); })) {
      return contiguous_strides(sizes);
    }
  }
  std::vector<TensorSpec> expanded;
  for (const TensorSpec* input : inputs) expanded.push_back(broadcast(*input, sizes));
  // Sorts dims from innermost to outermost by stable insertion, because compare_dims() cannot order
  // every pair.
  std::vector<size_t> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moved = i;
    for (size_t j = i; j-- > 0;) {
      const int comparison = compare_dims(expanded, order[j], order[moved]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(order[j], order[moved]);
      moved = j;
    }
  }
  const std::vector<uint8_t> dim_order(order.rbegin(), order.rend());
  return dense_strides(sizes, dim_order);
}

}  // namespace vitrine::aot
