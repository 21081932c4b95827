#include "backends/xnnpack/runtime/execution/own_kernels.h"

#ifdef VITRINE_XNNPACK_OWN_KERNELS

#include <algorithm>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"

extern "C" {
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack {
namespace {

using own_kernels::Replacement;

const Replacement* const kReplacements[] = {
#define VITRINE_REPLACEMENT(name) &own_kernels::name,
#include "backends/xnnpack/runtime/execution/own_kernels/list.inc"
#undef VITRINE_REPLACEMENT
};

const Replacement* replacement(const xnn_operator& op) {
  for (const Replacement* const own : kReplacements) {
    if (own->fits(op)) return own;
  }
  return nullptr;
}

// Our copy of an operator's weights.
struct Weights {
  explicit Weights(const xnn_operator& op) {
    for (const Replacement* const own : kReplacements) {
      if (own->weight_bytes == nullptr) continue;
      size = own->weight_bytes(op);
      if (size == 0) continue;
      copy = own->copy_weights;
      break;
    }
  }
  size_t bytes() const {  // with the space up to the next copy
    constexpr size_t kAlignment = alignof(std::max_align_t);
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }

  size_t size = 0;
  void (*copy)(xnn_operator& op, std::byte* to) = nullptr;
};

}  // namespace

bool OwnKernels::are_built() { return true; }

bool OwnKernels::have(std::string_view name) {
  return std::ranges::any_of(kReplacements, [&](const Replacement* own) {
    return std::string_view(own->name).starts_with(name);
  });
}

Error OwnKernels::load(xnn_runtime_t runtime, ThreadPool* pool, uint64_t max_bytes, bool exact) {
  size_t bytes = 0;
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    const xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    if (op != nullptr) bytes += Weights(*op).bytes();
  }
  VITRINE_RETURN_IF_ERROR(names_.resize(runtime->num_ops));  // fused operators have none
  VITRINE_RETURN_IF_ERROR(weights_.resize(bytes));
  std::byte* to = weights_.data();
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    if (op == nullptr) continue;
    const Weights weights(*op);
    if (weights.copy != nullptr) weights.copy(*op, to);
    to += weights.bytes();
  }
  if (exact) return Error();
  return winograd_.load(runtime, pool, max_bytes - std::min<uint64_t>(bytes, max_bytes));
}

void OwnKernels::use(xnn_runtime_t runtime) {
  const char** name = names_.data();
  const std::byte* weights = weights_.data();
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    xnn_operator* const op = runtime->opdata[i].operator_objects[0];
    if (op == nullptr) continue;
    const Replacement* const own = replacement(*op);
    *name++ = own != nullptr ? own->name : nullptr;
    if (own != nullptr && op->state != xnn_run_state_skip) own->install(*op, weights);
    weights += Weights(*op).bytes();
  }
  winograd_.use(runtime, names_.data());
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

bool OwnKernels::are_built() { return false; }
bool OwnKernels::have(std::string_view) { return false; }
Error OwnKernels::load(xnn_runtime_t, ThreadPool*, uint64_t, bool) { return Error(); }
void OwnKernels::use(xnn_runtime_t) {}

}  // namespace vitrine::xnnpack

#endif
