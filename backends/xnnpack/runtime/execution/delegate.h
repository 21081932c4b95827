// A loaded XNNPACK delegate, which owns an XNNPACK runtime.
#pragma once

#include <memory>
#include <optional>

#include "backends/xnnpack/runtime/execution/delegate_arguments.h"
#include "backends/xnnpack/runtime/execution/handles.h"
#include "backends/xnnpack/runtime/execution/invocation.h"
#include "backends/xnnpack/runtime/execution/operator_map.h"
#include "backends/xnnpack/runtime/execution/operator_times.h"
#include "backends/xnnpack/runtime/execution/operator_values.h"
#include "backends/xnnpack/runtime/execution/own_kernels.h"
#include "backends/xnnpack/runtime/execution/workspace.h"
#include "backends/xnnpack/runtime/reader/graph.h"
#include "backends/xnnpack/runtime/reader/operator_tables.h"
#include "backends/xnnpack/runtime/weights/constants.h"
#include "backends/xnnpack/runtime/weights/packed_weights.h"
#include "vitrine/backend.h"

namespace vitrine::xnnpack {

struct BuiltRuntime;
class MemoryReserve;

struct Shared {
  std::shared_ptr<Workspace> workspace;
  std::shared_ptr<WeightsCache> weights;  // null if the delegate does not share weights
};

class XnnpackDelegate final : public Delegate {
 public:
  // XNNPACK must be initialized. If the context has a tracer, create() logs the operator map, and
  // the delegate can log operator times.
  static Result<std::unique_ptr<Delegate>> create(const BackendInitContext& context,
                                                  std::span<const std::byte> payload,
                                                  const Limits& limits, Shared shared,
                                                  const Options& options);
  ~XnnpackDelegate() override;

  // Logs operators only if the contexts of create() and of this call have a tracer. If XNNPACK
  // fails, the delegate is reset, so that later calls can succeed. Builds that cannot reset the
  // delegate (workspace.h) return InvalidState in later calls.
  Error execute(const BackendExecutionContext& context,
                std::span<EValue* const> arguments) override;

  bool is_output(size_t index) const override;

  // Writes the file of the weights cache if the cache has a file and the file is out of date.
  // Returns AccessFailed if the file cannot be written; the delegate still works.
  Error finish_load() override;
  Error plan_memory() override;
  void report_memory(DelegateMemory& report) const override;

 private:
  XnnpackDelegate() = default;
  Error take_heap(uint64_t bytes);
  Error load_own_kernels();
  Error prepare_invocation();
  Error check_output_ranks() const;
  Error trace_init(const BackendInitContext& context, const BuiltRuntime& built, uint64_t start_ns);

  Error check_and_execute(const BackendExecutionContext& context,
                          std::span<EValue* const> arguments, bool unchanged);
  // Reshapes and sets up the runtime as needed. The caller must lock the workspace.
  Error prepare(std::span<EValue* const> arguments, bool shapes_changed);
  // Plans the runtime's memory for shapes_. The caller must lock the workspace.
  Error plan_for_shapes();
  Error give_up(xnn_status status);
  // Resets the delegate after XNNPACK has failed, and returns the error.
  Error fail(Error error);
  // Reserves memory for the lists that XNNPACK allocates without a check (memory_reserve.h).
  // Returns false if memory runs out.
  bool fill_reserve(MemoryReserve& reserve) const;
  Error reshape();
  Error name_operators(std::span<const uint32_t> node_of_op);
  void name_own_kernels();
  void log_operators(const BackendExecutionContext& context,
                     std::span<const uint64_t> ends_ns) const;

  Graph graph_;
  Limits limits_;
  // runtime_ refers to these members, so they are declared before runtime_ and destroyed after it.
  Constants constants_;
  std::optional<PackedWeights> weights_;
  std::shared_ptr<Workspace> workspace_;
  Budget* memory_ = nullptr;    // budget of the method; may be null
  size_t workspace_taken_ = 0;  // bytes charged to memory_ for the workspace
  uint64_t heap_taken_ = 0;     // bytes charged to memory_ for operators, lists and own_kernels_
  OperatorTables tables_;
  RuntimeHandle runtime_;
  ThreadPool* pool_ = nullptr;
  std::optional<OwnKernels> own_kernels_;  // empty if XNNPACK's kernels run all operators
  Invocation invocation_;
  CheckedVector<Shape> shapes_;  // shapes of the last call, by value index
  // The shapes of the last reshape, or the shapes at load. Only builds that must refuse some
  // changes of shapes use them (resizing.h).
  CheckedVector<Shape> last_shapes_;
  bool was_reshaped_ = false;
  DelegateArguments arguments_{graph_, shapes_};
  bool shapes_valid_ = false;
  bool data_valid_ = false;

  // The next members are set only if create() had a tracer.
  std::optional<OperatorTimes> times_;
  CheckedVector<TracedOperator> logged_;
  OperatorValues values_;
  CheckedVector<char> operator_map_text_;
};

}  // namespace vitrine::xnnpack
