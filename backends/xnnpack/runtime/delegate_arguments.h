// The tensors of a delegate's calls and XNNPACK's external values that stand for them: what a call
// must bring, where XNNPACK reads and writes it, and how its results come back.
#pragma once

#include <xnnpack.h>

#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "vitrine/backend.h"

namespace vitrine::xnnpack {

class DelegateArguments {
 public:
  struct Binding {
    uint32_t argument;
    uint32_t value;
    bool is_output;
    bool is_read;      // an output that nodes of the delegate read counts, too
    bool needs_slack;  // of the last call's memory: it ends close to a page's end
    ScalarType dtype;
  };
  using Call = std::span<EValue* const>;

  // `shapes` are those of the graph's values in the last call. Both outlive this.
  DelegateArguments(const Graph& graph, CheckedVector<Shape>& shapes)
      : graph_(graph), shapes_(shapes) {}
  DelegateArguments(const DelegateArguments&) = delete;
  DelegateArguments& operator=(const DelegateArguments&) = delete;
  ~DelegateArguments();

  // Once, when the graph is read. Copies of arguments are taken from `memory`, which may be null.
  Error bind(Budget* memory);
  std::span<const Binding> bindings() const { return {bindings_.data(), bindings_.size()}; }
  // Where XNNPACK is to find them.
  std::span<const xnn_external_value> places() const { return {data_.data(), data_.size()}; }
  size_t copied_bytes() const;

  // Whether they are the last call's: the same memory, of the same shapes. A small delegate runs
  // for less time than the checks of the general case take.
  bool are_as_before(Call call) const;
  // Notes the inputs' shapes.
  Error check(Call call, bool* shapes_changed);
  // Whether an input is empty, which XNNPACK does not support. Then the outputs are empty too, or
  // NotSupported.
  Result<bool> has_empty_input() const;
  // A tensor may be several arguments, as long as all have one shape.
  Error resize_outputs(Call call) const;
  // XNNPACK reads up to XNN_EXTRA_BYTES past a tensor: one that lacks slack and ends that close to
  // a page's end gets a copy, for which the first such call takes memory.
  Error place(Call call, bool* places_changed);
  // After the run: what XNNPACK wrote elsewhere or in another dtype.
  void finish_outputs(Call call) const;

 private:
  Error grow_copy(size_t binding, size_t bytes);

  const Graph& graph_;
  CheckedVector<Shape>& shapes_;
  Budget* memory_ = nullptr;
  CheckedVector<Binding> bindings_;
  CheckedVector<xnn_external_value> data_;  // parallel to bindings_
  CheckedVector<DataBuffer> copies_;        // likewise: with slack, empty until needed
};

}  // namespace vitrine::xnnpack
