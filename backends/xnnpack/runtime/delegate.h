// One loaded XNNPACK delegate: an XNNPACK runtime, when it must be told of new shapes and memory,
// and what it reports to a tracer.
#pragma once

#include <memory>
#include <optional>

#include "backends/xnnpack/runtime/constants.h"
#include "backends/xnnpack/runtime/delegate_arguments.h"
#include "backends/xnnpack/runtime/graph.h"
#include "backends/xnnpack/runtime/handles.h"
#include "backends/xnnpack/runtime/invocation.h"
#include "backends/xnnpack/runtime/operator_tables.h"
#include "backends/xnnpack/runtime/operator_times.h"
#include "backends/xnnpack/runtime/packed_weights.h"
#include "backends/xnnpack/runtime/plan.h"
#include "backends/xnnpack/runtime/workspace.h"
#include "vitrine/backend.h"

namespace vitrine::xnnpack {

class MemoryReserve;

// Objects that a delegate may share with others.
struct Shared {
  std::shared_ptr<Workspace> workspace;
  std::shared_ptr<WeightsCache> weights;  // null: weights are the delegate's own
};

class XnnpackDelegate final : public Delegate {
 public:
  // XNNPACK is initialised. With a tracer in the context, operators are timed from then on, and the
  // plan is logged.
  static Result<std::unique_ptr<Delegate>> create(const BackendInitContext& context,
                                                  std::span<const std::byte> processed,
                                                  const Limits& limits, Shared shared);
  ~XnnpackDelegate() override;

  // Logs operators only if there was a tracer at create, too. After an error the next call starts
  // afresh, or is refused with InvalidState in builds that cannot do that (workspace.h).
  Error execute(const BackendExecutionContext& context,
                std::span<EValue* const> arguments) override;

  bool is_output(size_t index) const override;

  // Writes the weights cache's file if there is one and it lacks something. AccessFailed says why
  // it cannot; the delegate works all the same.
  Error finish_load() override;
  void report_memory(DelegateMemory& report) const override;

 private:
  XnnpackDelegate() = default;
  Error take_heap();
  Error check_output_ranks() const;
  Error trace_init(const BackendInitContext& context, std::span<const DefinedNodes> defined,
                   uint64_t start_ns);

  Error check_and_execute(const BackendExecutionContext& context,
                          std::span<EValue* const> arguments, bool as_before);
  // XNNPACK's part; the workspace is locked.
  Error prepare(std::span<EValue* const> arguments, bool shapes_changed);
  Error give_up(xnn_status status);
  // After a failure of XNNPACK's.
  Error fail(Error error);
  // For the lists of plans and of paddings (operator_tables.h). False if there is no memory for it.
  bool fill_reserve(MemoryReserve& reserve) const;
  Error reshape();
  Error name_operators(std::span<const uint32_t> node_of_op);
  void log_operators(const BackendExecutionContext& context,
                     std::span<const uint64_t> ends_ns) const;

  Graph graph_;
  Limits limits_;
  // Before runtime_, which refers to them.
  Constants constants_;
  std::optional<PackedWeights> weights_;
  std::shared_ptr<Workspace> workspace_;
  Budget* memory_ = nullptr;    // the method's; may be null
  size_t workspace_taken_ = 0;  // of it, for the workspace
  uint64_t heap_taken_ = 0;     // likewise, for operators and lists
  OperatorTables tables_;
  RuntimeHandle runtime_;
  ThreadPool* pool_ = nullptr;  // of the context that made this
  Invocation invocation_;
  CheckedVector<Shape> shapes_;  // by value, of the last call
  // For builds that may not follow all changes (resizing.h): those that XNNPACK has, first of load.
  CheckedVector<Shape> last_shapes_;
  bool was_reshaped_ = false;
  DelegateArguments arguments_{graph_, shapes_};
  bool shapes_valid_ = false;
  bool data_valid_ = false;

  // Only with a tracer at create.
  std::optional<OperatorTimes> times_;
  CheckedVector<TracedOperator> logged_;
  CheckedVector<char> plan_text_;
};

}  // namespace vitrine::xnnpack
