#include <algorithm>
#include <array>
#include <limits>

#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {
namespace {

constexpr std::array<std::string_view, 7> kBounded = {
    "add.Tensor", "addmm.default", "convolution.default", "linear.default",
    "mm.default", "mul.Tensor",    "sub.Tensor"};

}  // namespace

std::optional<Bounds> activation_bounds(const Node& node) {
  if (calls_op(node, "relu.default")) return Bounds{0.0f, std::numeric_limits<float>::infinity()};
  if (!calls_op(node, "hardtanh.default")) return {};
  return Bounds{static_cast<float>(Call(node).real("min_val")),
                static_cast<float>(Call(node).real("max_val"))};
}

void fuse_activations(Preprocessing& p) {
  each_call(p.graph(), [&](Node& node) {
    const std::optional<Bounds> bounds = activation_bounds(node);
    if (!bounds) return;
    Node& source = required(node, 0);
    if (!source.is_call() || source.users().size() != 1 || p.notes(source).bounds ||
        std::ranges::count(kBounded, op_name(source)) == 0) {
      return;
    }
    p.notes(source).bounds = bounds;
    p.absorb(source, node);
    p.replace(node, source);
  });
}

}  // namespace vitrine::aot::xnnpack
