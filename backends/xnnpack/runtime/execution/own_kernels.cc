#include "backends/xnnpack/runtime/execution/own_kernels.h"

#ifdef VITRINE_XNNPACK_OWN_KERNELS

#include <algorithm>
#include <functional>
#include <utility>

#include "backends/xnnpack/runtime/execution/own_kernels/own_layout.h"
#include "backends/xnnpack/runtime/execution/own_kernels/raw_weights.h"
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "runtime/core/sort.h"

extern "C" {
#include "xnnpack/allocator.h"
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack {
namespace {

using own_kernels::no_memory;
using own_kernels::own_layout;
using own_kernels::RawWeights;
using own_kernels::Replacement;

const Replacement* const kReplacements[] = {
#define VITRINE_REPLACEMENT(name) &own_kernels::name,
#include "backends/xnnpack/runtime/execution/own_kernels/list.inc"
#undef VITRINE_REPLACEMENT
};

// Returns true if the built-in rule prefers `own`, which must be able to run `op`.
bool is_probably_faster(const Replacement& own, const xnn_operator& op) {
  return own.is_faster == nullptr || own.is_faster(op);
}

bool can_choose(std::string_view name) {
  return std::ranges::any_of(kReplacements, [&](const Replacement* own) {
    return name == own->name && !own->is_required;
  });
}

OperatorSizes sizes_of(const xnn_runtime& runtime, const xnn_operator_data& data) {
  const xnn_shape& in = runtime.values[data.inputs[0]].shape;
  const xnn_shape& out = runtime.values[data.outputs[0]].shape;
  const auto row = [](const xnn_shape& shape) {
    return shape.num_dims > 0 ? shape.dim[shape.num_dims - 1] : size_t{1};
  };
  uint64_t elements = 1;
  for (size_t i = 0; i < out.num_dims; ++i) elements *= out.dim[i];
  return {row(in), row(out), elements};
}

// Returns Vitrine's kernel for `op`, or null if XNNPACK's kernel runs `op`.
const Replacement* replacement(const xnn_operator& op, const OperatorSizes& sizes,
                               const KernelChoices& choices) {
  for (const Replacement* const own : kReplacements) {
    if (!own->fits(op)) continue;
    if (own->is_required) return own;
    const std::optional<bool> is_faster = choices.is_faster(own->name, sizes);
    if (is_faster ? *is_faster : is_probably_faster(*own, op)) return own;
  }
  return nullptr;
}

// Returns the kernel that may run `op` with Vitrine's copy of the weights, or null.
const Replacement* weight_owner(const xnn_operator& op, const KernelChoices& choices) {
  const auto* const owner = std::ranges::find_if(kReplacements, [&](const Replacement* own) {
    return own->weight_bytes != nullptr && own->weight_bytes(op) != 0 &&
           (choices.has(own->name) || is_probably_faster(*own, op));
  });
  return owner != std::end(kReplacements) ? *owner : nullptr;
}

// If XNNPACK must pack a filter for one node, all nodes that share the filter become kPacked.
Error pack_shared_filters(Graph& graph) {
  struct Reader {
    const std::byte* filter;
    Node* node;
  };
  CheckedVector<Reader> readers;
  for (Node& node : graph.nodes) {
    if (!node.live || node.input_count < 2) continue;
    const std::byte* const filter = graph.values[node.inputs[1]].data;
    if (filter != nullptr) VITRINE_RETURN_IF_ERROR(readers.push_back({filter, &node}));
  }
  sort(std::span(readers.data(), readers.size()),
       [](const Reader& a, const Reader& b) { return std::less<>()(a.filter, b.filter); });
  for (Reader* first = readers.begin(); first != readers.end();) {
    Reader* const end = std::find_if(
        first, readers.end(), [&](const Reader& reader) { return reader.filter != first->filter; });
    const bool is_packed = std::any_of(first, end, [](const Reader& reader) {
      return reader.node->weights == Node::Weights::kPacked;
    });
    for (; first != end; ++first) {
      if (is_packed) first->node->weights = Node::Weights::kPacked;
    }
  }
  return Error();
}

}  // namespace

bool OwnKernels::are_built() { return true; }

bool OwnKernels::have(std::string_view name) {
  return std::ranges::any_of(kReplacements, [&](const Replacement* own) {
    return std::string_view(own->name).starts_with(name);
  });
}

bool OwnKernels::have_f16_winograd() { return own_kernels::winograd_direct_time(true) != 0; }

Error OwnKernels::plan(Graph& graph, std::span<const Shape> shapes, const Options& options,
                       const OwnKernelLimits& limits) {
  const size_t vector_bytes = optimized::simd::gemm_shape().lanes * sizeof(float);
  if (!options.choices.empty()) {
    VITRINE_ASSIGN_OR_RETURN(choices_,
                             KernelChoices::read(options.choices, can_choose, vector_bytes));
  }
  for (Node& node : graph.nodes) {
    // With a table of choices, XNNPACK's kernel may run the node and needs packed weights.
    if (!choices_.is_empty()) break;
    const bool is_own = node.live && std::ranges::any_of(kReplacements, [&](const auto* own) {
                          return own->owns_weights != nullptr && own->owns_weights(graph, node);
                        });
    if (is_own) node.weights = Node::Weights::kOwn;
  }
  if (!options.exact) VITRINE_RETURN_IF_ERROR(winograd_.plan(graph, shapes, limits));
  return pack_shared_filters(graph);
}

Error OwnKernels::load(xnn_runtime_t runtime, ThreadPool* pool, PackedWeights& weights) {
  VITRINE_RETURN_IF_ERROR(winograd_.load(runtime, pool, weights));
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    const xnn_operator_data& data = runtime->opdata[i];
    xnn_operator* const op = data.operator_objects[0];
    if (op == nullptr) continue;  // fused operators are null
    const std::byte* copy = nullptr;
    const Replacement* const owner = weight_owner(*op, choices_);
    if (owner != nullptr) {
      const void* const filter = runtime->values[data.inputs[1]].data;
      const size_t bytes = owner->weight_bytes(*op);
      copy = weights.find_own(filter, own_layout(), bytes);
      if (copy == nullptr) {
        std::byte* const block = weights.reserve_own(bytes);
        if (block == nullptr) return no_memory(bytes);
        owner->copy_weights(*op, RawWeights(*runtime, data), block);
        copy = weights.insert_own(filter, own_layout(), block);
        if (copy == nullptr) return no_memory(bytes);
      }
    }
    // Without a table of choices, XNNPACK's copy of the weights is never used.
    if (owner != nullptr && choices_.is_empty() && op->weights_cache == nullptr) {
      xnn_release_simd_memory(std::exchange(op->packed_weights.pointer, nullptr));
    }
    const bool is_ours = winograd_.runs_always(op) || (owner != nullptr && owner->fits(*op));
    if (!is_ours && data.num_inputs > 1 && op->weights_cache != nullptr &&
        weights.is_unpacked(packed_weights(op))) {
      return Error::make(ErrorCode::kInternal,
                         "operator %zu: XNNPACK did not pack the weights, and no Vitrine kernel "
                         "supports the operator",
                         i);
    }
    VITRINE_RETURN_IF_ERROR(weights_.push_back(copy));
  }
  return names_.resize(weights_.size());
}

void OwnKernels::drop_tables(xnn_runtime_t runtime) const { winograd_.drop_tables(runtime); }

void OwnKernels::use(xnn_runtime_t runtime) {
  const char** name = names_.data();
  const std::byte* const* weights = weights_.data();
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    if (op == nullptr) continue;
    const Replacement* const own =
        replacement(*op, sizes_of(*runtime, runtime->opdata[i]), choices_);
    *name++ = own != nullptr ? own->name : nullptr;
    if (own != nullptr && op->state != xnn_run_state_skip) own->install(*op, *weights);
    ++weights;
  }
  winograd_.use(runtime, names_.data());
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

bool OwnKernels::are_built() { return false; }
bool OwnKernels::have(std::string_view) { return false; }
bool OwnKernels::have_f16_winograd() { return false; }
Error OwnKernels::plan(Graph&, std::span<const Shape>, const Options&, const OwnKernelLimits&) {
  return Error();
}
Error OwnKernels::load(xnn_runtime_t, ThreadPool*, PackedWeights&) { return Error(); }
void OwnKernels::drop_tables(xnn_runtime_t) const {}
void OwnKernels::use(xnn_runtime_t) {}

}  // namespace vitrine::xnnpack

#endif
