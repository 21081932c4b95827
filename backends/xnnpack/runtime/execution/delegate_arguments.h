// Binds the tensors of a delegate call to XNNPACK's external values: checks the arguments, chooses
// the memory that XNNPACK uses, and converts results after the run.
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
    bool needs_slack;  // true if the memory of the last call ended close to the end of a page
    ScalarType dtype;

    bool is_bf16() const { return dtype == ScalarType::kBFloat16; }
  };
  using Call = std::span<EValue* const>;

  // `shapes` holds the shapes of the graph's values in the last call. `graph` and `shapes` must
  // outlive this object.
  DelegateArguments(const Graph& graph, CheckedVector<Shape>& shapes)
      : graph_(graph), shapes_(shapes) {}
  DelegateArguments(const DelegateArguments&) = delete;
  DelegateArguments& operator=(const DelegateArguments&) = delete;
  ~DelegateArguments();

  // Call once. Charges copies of arguments to `memory`, which may be null.
  Error bind(Budget* memory);
  std::span<const Binding> bindings() const { return {bindings_.data(), bindings_.size()}; }
  std::span<const xnn_external_value> addresses() const { return {data_.data(), data_.size()}; }
  size_t copied_bytes() const;
  // Allocates the fp32 copies of bf16 arguments, so that choose_addresses() need not allocate.
  Error allocate_copies();

  // True if memory and shapes are the same as in the last call. Then check() is not needed.
  bool are_unchanged(Call call) const;
  // Checks the arguments and stores the shapes of the inputs.
  Error check(Call call, bool* shapes_changed);
  // Returns true if an input and all outputs are empty. XNNPACK does not support empty inputs, so
  // the caller must skip the run. Returns NotSupported if an input is empty but an output is not.
  Result<bool> has_empty_input() const;
  // Resizes the outputs. Several arguments may be the same tensor if their shapes are equal.
  Error resize_outputs(Call call) const;
  // Chooses the addresses that XNNPACK reads and writes. XNNPACK may read up to XNN_EXTRA_BYTES
  // past the end of a tensor. A tensor that ends close to the end of a page is copied, unless
  // readable bytes (slack) follow it.
  Error choose_addresses(Call call, bool* addresses_changed);
  // Call after the run. Copies results to the caller's tensors. Converts fp32 results to bf16, and
  // 32-bit indices to 64 bits, where needed.
  void finish_outputs(Call call) const;

 private:
  Error grow_copy(size_t binding, size_t bytes);

  const Graph& graph_;
  CheckedVector<Shape>& shapes_;
  Budget* memory_ = nullptr;
  CheckedVector<Binding> bindings_;
  CheckedVector<xnn_external_value> data_;  // parallel to bindings_
  CheckedVector<DataBuffer> copies_;        // parallel to bindings_; a copy has slack and is empty
                                            // until needed
};

}  // namespace vitrine::xnnpack
