// What partitioners ask decomposition to leave whole.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aot/graph/node_error.h"
#include "aot/passes/pass.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"

namespace vitrine::aot {
namespace {

// Operators that to_edge decomposes or converts whoever asks for them.
constexpr std::array<std::string_view, 9> kNeverKept = {
    "aten._to_copy.default",
    "aten.mul.Tensor",
    "aten.add.Tensor",
    "aten.sub.Tensor",
    "aten.div.Tensor",
    "aten.item.default",
    "aten._local_scalar_dense.default",
    "aten.unbind.int",
    "aten.split_with_sizes.default",
};

// Composite operators whose schema lets the result share memory with an argument ("Tensor(a)"), by
// name without overload. Plain views are in the table of views.
constexpr std::array<std::string_view, 38> kMayAlias = {
    "aten.adjoint",
    "aten.atleast_1d",
    "aten.atleast_2d",
    "aten.atleast_3d",
    "aten.broadcast_to",
    "aten.chunk",
    "aten.conj",
    "aten.contiguous",
    "aten.diag",
    "aten.dsplit",
    "aten.expand_as",
    "aten.flatten",
    "aten.hsplit",
    "aten.imag",
    "aten.lift_fresh",
    "aten.matrix_H",
    "aten.mH",
    "aten.mT",
    "aten.meshgrid",
    "aten.moveaxis",
    "aten.movedim",
    "aten.narrow",
    "aten.numpy_T",
    "aten.ravel",
    "aten.real",
    "aten.reshape",
    "aten.reshape_as",
    "aten.swapaxes",
    "aten.swapdims",
    "aten.tensor_split",
    "aten.to",
    "aten.unflatten",
    "aten.unsafe_chunk",
    "aten.view_as",
    "aten.view_as_complex",
    "aten._reshape_alias",
    "aten.vsplit",
    "aten.type_as",
};

constexpr std::array<std::string_view, 8> kQuantPrimitives = {
    "quantized_decomposed.dequantize_per_channel.default",
    "quantized_decomposed.dequantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed.convert_element_type.no_fuse",
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed.quantize_per_channel.default",
    "quantized_decomposed.choose_qparams.tensor",
};

}  // namespace

bool may_keep(std::string_view name) {
  const Target target = Target::of(name);
  const std::string_view op = target.op();
  const std::string_view overload = target.overload();
  const bool writes =
      (op.ends_with('_') && !op.ends_with("__")) || overload == "out" || overload.ends_with("_out");
  const std::string_view packet = name.substr(0, name.rfind('.'));
  return !writes && !is_view(target) && std::ranges::count(kNeverKept, name) == 0 &&
         std::ranges::count(kMayAlias, packet) == 0;
}

void require_kept_ops_lowered(const ExportedProgram& program,
                              std::span<const OpsToKeep> ops_to_keep) {
  for_each_call(*program.graph, [&](Node& node) {
    const std::string& name = node.target().name();
    if (!may_keep(name) || std::ranges::count(kQuantPrimitives, name) != 0) return;
    for (const OpsToKeep& each : ops_to_keep) {
      if (std::ranges::count(each.targets, name) != 0 && (!each.keeps || each.keeps(node))) {
        fail_at(node, fmt::format("a partitioner asked to keep {} from decomposition, but no "
                                  "delegate took it",
                                  name));
      }
    }
  });
}

}  // namespace vitrine::aot
