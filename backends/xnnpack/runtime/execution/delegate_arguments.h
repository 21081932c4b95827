// Binds the tensors of a delegate call to XNNPACK's external values. Checks the arguments and
// chooses the memory that XNNPACK reads and writes. After the run, copies results from internal
// buffers to the caller's tensors, and converts results where needed.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/backend.h"

namespace vitrine::xnnpack {

class DelegateArguments {
 public:
  struct Binding {
    uint32_t argument;
    uint32_t value;
    bool is_output;
    bool is_read;      // true for inputs, and for outputs that nodes of the delegate read
    bool needs_slack;  // true if the last call's memory ended close to the end of a page
    ScalarType dtype;

    // For a bf16 argument, XNNPACK reads and writes an fp32 copy.
    bool is_bf16() const { return dtype == ScalarType::kBFloat16; }
  };
  using Call = std::span<EValue* const>;

  // `shapes` are the shapes of the graph's values in the last call. `graph` and `shapes` must
  // outlive this object.
  DelegateArguments(const Graph& graph, CheckedVector<Shape>& shapes)
      : graph_(graph), shapes_(shapes) {}
  DelegateArguments(const DelegateArguments&) = delete;
  DelegateArguments& operator=(const DelegateArguments&) = delete;
  ~DelegateArguments();

  // Call once, after the graph was read. Charges copies of arguments to `memory`, which may be
  // null.
  Error bind(Budget* memory);
  std::span<const Binding> bindings() const { return {bindings_.data(), bindings_.size()}; }
  // The addresses to pass to XNNPACK.
  std::span<const xnn_external_value> addresses() const { return {data_.data(), data_.size()}; }
  size_t copied_bytes() const;
  // Allocates the fp32 copies of bf16 arguments for the current shapes, so that choose_addresses()
  // does not have to allocate them.
  Error allocate_copies();

  // Returns true if the arguments have the same memory and shapes as in the last call. If so, the
  // caller need not call check().
  bool are_unchanged(Call call) const;
  // Checks the arguments and stores the shapes of the inputs.
  Error check(Call call, bool* shapes_changed);
  // Returns true if an input and all outputs are empty. The caller must then skip the run, because
  // XNNPACK does not support empty inputs. Returns NotSupported if an input is empty but an output
  // is not.
  Result<bool> has_empty_input() const;
  // Resizes the outputs. One tensor may be passed for several arguments if their shapes are equal.
  Error resize_outputs(Call call) const;
  // Chooses the addresses that XNNPACK reads and writes. XNNPACK may read up to XNN_EXTRA_BYTES
  // past the end of a tensor. So a tensor that ends close to the end of a page is copied, unless
  // the tensor has slack (readable bytes after its end).
  Error choose_addresses(Call call, bool* addresses_changed);
  // Call after the run. Copies results from internal buffers to the caller's tensors. Converts fp32
  // results to bf16, and 32-bit indices to 64 bits, where needed.
  void finish_outputs(Call call) const;

 private:
  Error grow_copy(size_t binding, size_t bytes);

  const Graph& graph_;
  CheckedVector<Shape>& shapes_;
  Budget* memory_ = nullptr;
  CheckedVector<Binding> bindings_;
  CheckedVector<xnn_external_value> data_;  // parallel to bindings_
  CheckedVector<DataBuffer> copies_;        // parallel to bindings_; with slack; empty until needed
};

}  // namespace vitrine::xnnpack
