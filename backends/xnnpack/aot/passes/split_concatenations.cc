#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/preprocessing.h"
#include "backends/xnnpack/aot/quantization.h"
#include "backends/xnnpack/aot/rules.h"

namespace vitrine::aot::xnnpack {
namespace {

constexpr size_t kMaxInputs = 5;

TensorSpec joined_spec(const Node& node, const ArgumentList& items, size_t dim) {
  for (const Argument& item : items) {
    if (spec_of(*item.node()).rank() != spec_of(node).rank()) {
      throw AotError(
          fmt::format("node {}: its inputs and its result must have the same rank", node.name()));
    }
  }
  TensorSpec spec = spec_of(*items.front().node());
  for (size_t i = 1; i < items.size(); ++i) {
    spec.sizes[dim] = spec.sizes[dim] + spec_of(*items[i].node()).sizes[dim];
  }
  spec.strides = dense_strides(spec.sizes, dim_order_of(spec));
  return spec;
}

// Quantizes and dequantizes an intermediate result with the parameters of the final result.
Node* quantized_like(Preprocessing& p, Node& at, Node* value, const Node& quantize) {
  const TensorSpec float_spec = spec_of(*value);
  TensorSpec int_spec = float_spec;
  int_spec.dtype = spec_of(quantize).dtype;
  ArgumentList args = quantize.args();
  args[0] = value;
  Node* q = p.insert(at, quantize.target().name(), args, int_spec);
  args[0] = q;
  return p.insert(at, "quantized_decomposed.dequantize_per_tensor.default", args, float_spec);
}

}  // namespace

void split_concatenations(Preprocessing& p) {
  each_call(p.graph(), [&](Node& node) {
    if (!calls_op(node, "cat.default")) return;
    const Argument* tensors = Call(node).find("tensors");
    if (tensors == nullptr || tensors->list() == nullptr) return;
    ArgumentList items = *tensors->list();
    if (items.size() <= kMaxInputs) return;
    for (const Argument& item : items) {
      if (item.node() == nullptr) return;  // translate_cat() reports the error
    }
    const size_t rank = spec_of(node).rank();
    const int64_t axis = Call(node).integer("dim");
    const size_t dim = wrapped_dim(node, axis, rank);
    const Node* quantize = quantized_result(node);
    size_t done = 0;  // items before this index are concatenated in items[done]
    while (items.size() - done > kMaxInputs) {
      const auto begin = items.begin() + static_cast<std::ptrdiff_t>(done);
      ArgumentList first(begin, begin + kMaxInputs);
      const TensorSpec spec = joined_spec(node, first, dim);
      Node* part =
          p.insert(node, node.target().name(), {Argument::list(std::move(first)), axis}, spec);
      part->meta.debug_handle = node.meta.debug_handle;
      if (quantize != nullptr) part = quantized_like(p, node, part, *quantize);
      done += kMaxInputs - 1;
      items[done] = part;
    }
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(done));
    node.set_arg(0, Argument::list(std::move(items)));
  });
}

}  // namespace vitrine::aot::xnnpack
