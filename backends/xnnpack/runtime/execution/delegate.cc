#include "backends/xnnpack/runtime/execution/delegate.h"

#include <algorithm>
#include <utility>

#include "backends/xnnpack/runtime/execution/layout_changes.h"
#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/execution/resizing.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "backends/xnnpack/runtime/execution/silu_fusion.h"
#include "backends/xnnpack/runtime/execution/subgraph.h"
#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "backends/xnnpack/runtime/reader/shape_inference.h"
#include "backends/xnnpack/runtime/weights/packing_threads.h"
#include "backends/xnnpack/runtime/weights/unscaled_weights.h"
#include "runtime/platform/clock.h"
#include "vitrine/thread_pool.h"

namespace vitrine::xnnpack {
Result<std::unique_ptr<Delegate>> XnnpackDelegate::create(const BackendInitContext& context,
                                                          std::span<const std::byte> payload,
                                                          const Limits& limits, Shared shared,
                                                          const Options& options) {
  const uint64_t start_ns = context.tracer != nullptr ? platform::quick_now_ns() : 0;
  std::unique_ptr<XnnpackDelegate> self(new (std::nothrow) XnnpackDelegate);
  if (!self) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a delegate");
  self->limits_ = limits;
  self->memory_ = context.memory;
  Budget unbounded;
  Budget& steps = context.load_steps != nullptr ? *context.load_steps : unbounded;
  VITRINE_ASSIGN_OR_RETURN(const Payload opened, open_payload(payload, steps));
  VITRINE_ASSIGN_OR_RETURN(self->graph_, read_graph(*opened.graph, steps));
  VITRINE_RETURN_IF_ERROR(self->take_heap(heap_bytes(self->graph_)));
  VITRINE_RETURN_IF_ERROR(self->tables_.bind(self->graph_, context.memory));
  VITRINE_RETURN_IF_ERROR(self->constants_.load(opened, context.named_data, shared.weights.get(),
                                                steps, context.memory, self->graph_));
  VITRINE_RETURN_IF_ERROR(refuse_unscaled_weights(self->graph_));
  VITRINE_RETURN_IF_ERROR(self->shapes_.reserve(self->graph_.values.size()));
  for (const Value& value : self->graph_.values) {
    VITRINE_RETURN_IF_ERROR(self->shapes_.push_back(value.shape));
  }
  VITRINE_RETURN_IF_ERROR(
      infer_shapes(self->graph_, self->shapes_, limits.within(context.memory, 0)));
  VITRINE_RETURN_IF_ERROR(self->check_output_ranks());
  if (!can_access_runtimes()) {
    VITRINE_RETURN_IF_ERROR(self->last_shapes_.append(self->shapes_));
  }

  if (options.vitrine_kernels && OwnKernels::are_built()) {
    if (context.has_fixed_sizes) {
      VITRINE_RETURN_IF_ERROR(cancel_layout_changes(self->graph_, self->shapes_));
    }
    VITRINE_RETURN_IF_ERROR(mark_silus(self->graph_));
    VITRINE_RETURN_IF_ERROR(self->own_kernels_.emplace().plan(
        self->graph_, self->shapes_, options,
        {.max_bytes = context.memory != nullptr ? context.memory->left() : UINT64_MAX,
         .has_fixed_sizes = context.has_fixed_sizes,
         .threads = context.pool != nullptr ? context.pool->threads() : 1}));
  }
  self->weights_.emplace(std::move(shared.weights), context.memory);
  VITRINE_RETURN_IF_ERROR(self->weights_->identify(
      self->graph_, self->own_kernels_ ? self->own_kernels_->weight_bytes() : 0));
  self->workspace_ = std::move(shared.workspace);
  const std::lock_guard lock(self->workspace_->mutex);
  const PackingThreads packing(context.pool);
  VITRINE_ASSIGN_OR_RETURN(
      BuiltRuntime built, build_runtime({self->graph_, self->shapes_,
                                         self->workspace_->handle.get(), self->weights_->provider(),
                                         context.pool != nullptr ? context.pool->handle() : nullptr,
                                         context.tracer != nullptr, steps}));
  self->runtime_ = std::move(built.runtime);
  if (!self->weights_->is_complete()) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for packed weights");
  }
  self->pool_ = context.pool;
  if (self->own_kernels_) VITRINE_RETURN_IF_ERROR(self->load_own_kernels());
  self->weights_->finish();
  VITRINE_RETURN_IF_ERROR(self->prepare_invocation());
  // XNNPACK never reduces its byte counts. Counts for the upper bounds of dynamic sizes must be
  // dropped; otherwise later memory plans would be too large.
  forget_memory_plan(self->runtime_.get());
  self->constants_.release_packed();
  VITRINE_RETURN_IF_ERROR(self->arguments_.bind(context.memory));
  if (context.tracer != nullptr) {
    VITRINE_RETURN_IF_ERROR(self->trace_init(context, built, start_ns));
  }
  return std::unique_ptr<Delegate>(std::move(self));
}

XnnpackDelegate::~XnnpackDelegate() {
  if (memory_ != nullptr) memory_->give_back(heap_taken_);
  if (!workspace_) return;
  const std::lock_guard lock(workspace_->mutex);
  runtime_.reset();
  workspace_->give_back(memory_, workspace_taken_);
}

bool XnnpackDelegate::is_output(size_t index) const {
  if (index >= graph_.externals.size() || graph_.externals[index] == kNone) return false;
  return graph_.values[graph_.externals[index]].is_output;
}

Error XnnpackDelegate::finish_load() {
  return weights_->cache() ? weights_->cache()->save() : Error();
}

void XnnpackDelegate::report_memory(DelegateMemory& report) const {
  constants_.report_memory(report);
  weights_->report_memory(report);
  if (own_kernels_) {
    report.add(DelegateMemory::Kind::kWorkspace, own_kernels_->names().data(),
               own_kernels_->scratch_bytes());
  }
  report.add(DelegateMemory::Kind::kWorkspace, this,
             arguments_.copied_bytes() + static_cast<size_t>(tables_.bytes()));
  const std::lock_guard lock(workspace_->mutex);
  report.add(DelegateMemory::Kind::kWorkspace, workspace_.get(), workspace_->bytes());
}

Error XnnpackDelegate::take_heap(uint64_t bytes) {
  if (memory_ == nullptr) return Error();
  if (!memory_->take(bytes)) {
    return Error::make(ErrorCode::kOutOfResources,
                       "its %zu nodes need about %llu bytes, but max_memory_bytes leaves only %llu",
                       graph_.nodes.size(), static_cast<unsigned long long>(bytes),
                       static_cast<unsigned long long>(memory_->left()));
  }
  heap_taken_ += bytes;
  return Error();
}

Error XnnpackDelegate::load_own_kernels() {
  VITRINE_RETURN_IF_ERROR(own_kernels_->load(runtime_.get(), pool_, *weights_));
  return take_heap(own_kernels_->scratch_bytes());
}

Error XnnpackDelegate::prepare_invocation() {
  std::span<const char* const> names;
  if (own_kernels_) {
    own_kernels_->use(runtime_.get());
    name_own_kernels();
    names = own_kernels_->names();
  }
  return invocation_.prepare(runtime_.get(), pool_, names);
}

// One check at load suffices: the rank of an output depends only on the ranks of the inputs.
Error XnnpackDelegate::check_output_ranks() const {
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const Value& value = graph_.values[i];
    if (!value.is_output || value.shape.rank == shapes_[i].rank) continue;
    return Error::make(ErrorCode::kInvalidProgram,
                       "xvalues[%zu]: declares rank %zu, but its node computes rank %zu", i,
                       value.shape.rank, shapes_[i].rank);
  }
  return Error();
}

Error XnnpackDelegate::trace_init(const BackendInitContext& context, const BuiltRuntime& built,
                                  uint64_t start_ns) {
  VITRINE_ASSIGN_OR_RETURN(times_, OperatorTimes::create(runtime_.get(), built.nodes));
  VITRINE_ASSIGN_OR_RETURN(OperatorMap operator_map,
                           make_operator_map(graph_, built.defined, times_->operators()));
  VITRINE_ASSIGN_OR_RETURN(operator_map_text_, operator_map_text(graph_, operator_map));
  VITRINE_RETURN_IF_ERROR(name_operators(operator_map.node_of_op));
  VITRINE_RETURN_IF_ERROR(
      values_.load(graph_, runtime_.get(), built.ids, operator_map.node_of_op, logged_));
  TraceRecord record;
  record.kind = TraceRecord::Kind::kDelegateOperator;
  record.name = kOperatorMapEvent;
  record.metadata = operator_map_text_.data();
  record.metadata_size = static_cast<uint32_t>(operator_map_text_.size());
  record.chain_index = context.chain_index;
  record.instruction_id = context.instruction_id;
  record.start_ns = start_ns;
  record.end_ns = platform::quick_now_ns();
  context.tracer->record(record);
  return Error();
}

Error XnnpackDelegate::execute(const BackendExecutionContext& context,
                               std::span<EValue* const> arguments) {
  const bool unchanged = shapes_valid_ && data_valid_ && arguments_.are_unchanged(arguments);
  if (!unchanged || context.tracer != nullptr) {
    return check_and_execute(context, arguments, unchanged);
  }
  const std::lock_guard lock(workspace_->mutex);
  const xnn_status status = invocation_.run(runtime_.get(), {}, context.stop);
  if (status != xnn_status_success) return give_up(status);
  return context.must_stop() ? context.stop->error() : Error();
}

Error XnnpackDelegate::check_and_execute(const BackendExecutionContext& context,
                                         std::span<EValue* const> arguments, bool unchanged) {
  if (arguments.size() != graph_.external_count) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "the delegate has %u arguments, but is called with %zu",
                       graph_.external_count, arguments.size());
  }
  // shapes_valid_ stays false until everything has succeeded.
  bool shapes_changed = !std::exchange(shapes_valid_, false);
  if (!unchanged) VITRINE_RETURN_IF_ERROR(arguments_.check(arguments, &shapes_changed));
  const std::lock_guard lock(workspace_->mutex);
  if (!runtime_) {
    return Error::make(ErrorCode::kInvalidState,
                       "an earlier call failed inside XNNPACK: load the method again");
  }
  if (shapes_changed) {
    // The shapes in the program were valid at load. An error here is due to the arguments.
    const Limits bounds = limits_.within(memory_, workspace_->taken + tables_.bytes());
    if (const Error error = infer_shapes(graph_, shapes_, bounds); !error.ok()) {
      const bool is_shape_error = error.code() == ErrorCode::kInvalidProgram;
      return Error::make(is_shape_error ? ErrorCode::kInvalidArgument : error.code(),
                         "for the sizes of this call: %s", error.message());
    }
    VITRINE_ASSIGN_OR_RETURN(const bool nothing_to_do, arguments_.has_empty_input());
    if (nothing_to_do) return arguments_.resize_outputs(arguments);
  }
  if (!unchanged) VITRINE_RETURN_IF_ERROR(prepare(arguments, shapes_changed));
  const bool traced = context.tracer != nullptr && times_.has_value();
  ValueTracer* const value_tracer = traced ? context.tracer->value_tracer() : nullptr;
  if (value_tracer != nullptr) values_.start(context, *value_tracer, arguments_, arguments);
  const std::span<uint64_t> ends = traced ? times_->start() : std::span<uint64_t>();
  const xnn_status status = invocation_.run(runtime_.get(), ends, context.stop,
                                            value_tracer != nullptr ? &values_ : nullptr);
  if (status != xnn_status_success) return give_up(status);
  if (context.must_stop()) return context.stop->error();
  const std::span<const uint64_t> ends_ns = traced ? times_->stop() : std::span<const uint64_t>();
  shapes_valid_ = true;
  if (!unchanged) arguments_.finish_outputs(arguments);
  if (traced) log_operators(context, ends_ns);
  return Error();
}

Error XnnpackDelegate::give_up(xnn_status status) {
  shapes_valid_ = false;
  return fail(Error::make(ErrorCode::kInternal, "XNNPACK failed to run: %s", status_text(status)));
}

Error XnnpackDelegate::plan_for_shapes() {
  VITRINE_RETURN_IF_ERROR(tables_.grow(graph_, shapes_));
  data_valid_ = false;
  Error error = reshape();
  workspace_->take_growth(memory_, workspace_taken_);
  if (!error.ok()) return fail(std::move(error));
  tables_.settle(graph_, shapes_);
  return prepare_invocation();
}

// Plans memory for the declared sizes at load. The first call uses this plan if its arguments have
// these sizes.
Error XnnpackDelegate::plan_memory() {
  const std::lock_guard lock(workspace_->mutex);
  if (!runtime_ || shapes_valid_) return Error();
  VITRINE_ASSIGN_OR_RETURN(const bool nothing_to_do, arguments_.has_empty_input());
  if (nothing_to_do) return Error();
  VITRINE_RETURN_IF_ERROR(arguments_.allocate_copies());
  VITRINE_RETURN_IF_ERROR(plan_for_shapes());
  shapes_valid_ = true;
  return Error();
}

Error XnnpackDelegate::prepare(std::span<EValue* const> arguments, bool shapes_changed) {
  if (shapes_changed) VITRINE_RETURN_IF_ERROR(plan_for_shapes());
  VITRINE_RETURN_IF_ERROR(arguments_.resize_outputs(arguments));
  bool data_changed = !data_valid_;
  data_valid_ = false;
  VITRINE_RETURN_IF_ERROR(arguments_.choose_addresses(arguments, &data_changed));
  if (data_changed) {
    const xnn_status status = call_xnnpack([this] {
      const std::span<const xnn_external_value> addresses = arguments_.addresses();
      return xnn_setup_runtime_v2(runtime_.get(), addresses.size(), addresses.data());
    });
    if (status != xnn_status_success) {
      return fail(Error::make(ErrorCode::kInternal, "XNNPACK rejects the arguments: %s",
                              status_text(status)));
    }
  }
  data_valid_ = true;
  return Error();
}

Error XnnpackDelegate::fail(Error error) {
  data_valid_ = false;
  if (!forget_memory_plan(runtime_.get())) {
    runtime_.reset();
    tables_.clear();
  }
  return error;
}

bool XnnpackDelegate::fill_reserve(MemoryReserve& reserve) const {
  // Each list of XNNPACK's memory planner has a record of 40 bytes for each value and each node.
  // Fusion and output bounds can double the number of records.
  const size_t plan_bytes = 4096 + size_t{80} * (graph_.values.size() + graph_.nodes.size());
  for (int i = 0; i < 3 && !checks_plan_lists(); ++i) {
    if (!reserve.add(plan_bytes)) return false;
  }
  return std::ranges::all_of(graph_.nodes, [&](const Node& node) {
    return !node.live || !has_padding_for_each_image(graph_, node) ||
           reserve.add(shapes_[node.inputs[0]][0] * sizeof(void*));
  });
}

Error XnnpackDelegate::reshape() {
  for (const DelegateArguments::Binding& binding : arguments_.bindings()) {
    if (binding.is_output) continue;
    const Shape& shape = shapes_[binding.value];
    const xnn_status status =
        xnn_reshape_external_value(runtime_.get(), binding.argument, shape.rank, shape.dims.data());
    if (status != xnn_status_success) {
      return Error::make(ErrorCode::kInternal, "XNNPACK cannot reshape argument %u: %s",
                         binding.argument, status_text(status));
    }
  }
  if (can_access_runtimes()) {
    forget_sizes(runtime_.get(), graph_, shapes_);
  } else {
    VITRINE_RETURN_IF_ERROR(refuse_sizes(graph_, last_shapes_, !was_reshaped_, shapes_));
    std::ranges::copy(shapes_, last_shapes_.begin());
    was_reshaped_ = true;
  }
  const size_t max_bytes = limits_.within(memory_, workspace_->taken).max_workspace_bytes;
  MemoryReserve reserve(max_bytes);
  if (!fill_reserve(reserve)) {
    return Error::make(ErrorCode::kDelegateMemoryAllocationFailed,
                       "no memory for XNNPACK's memory planner");
  }
  const xnn_status reshaped = call_xnnpack([this] {
    return can_access_runtimes() ? reshape_operators(runtime_.get(), may_use_threads)
                                 : xnn_reshape_runtime(runtime_.get());
  });
  if (reserve.refused_bytes() != 0) return exceeds_bound(reserve.refused_bytes(), max_bytes);
  if (reshaped != xnn_status_success) {
    return Error::make(reshaped == xnn_status_out_of_memory
                           ? ErrorCode::kDelegateMemoryAllocationFailed
                           : ErrorCode::kNotSupported,
                       "XNNPACK cannot run with these sizes: %s", status_text(reshaped));
  }
  for (const DelegateArguments::Binding& binding : arguments_.bindings()) {
    Shape derived;
    if (xnn_get_external_value_shape(runtime_.get(), binding.argument, &derived.rank,
                                     derived.dims.data()) != xnn_status_success ||
        !(derived == shapes_[binding.value])) {
      return Error::make(ErrorCode::kInternal,
                         "XNNPACK and Vitrine derive different shapes for argument %u",
                         binding.argument);
    }
  }
  if (!can_access_runtimes()) return Error();
  if (own_kernels_) own_kernels_->drop_tables(runtime_.get());
  return workspace_->place_values(runtime_.get(), max_bytes);
}

Error XnnpackDelegate::name_operators(std::span<const uint32_t> node_of_op) {
  const std::span<const OperatorTimes::Operator> operators = times_->operators();
  VITRINE_RETURN_IF_ERROR(logged_.resize(operators.size()));
  for (size_t i = 0; i < operators.size(); ++i) {
    const uint32_t node = node_of_op[i];
    const std::string_view name = operators[i].name;
    logged_[i] = {name.data(), static_cast<uint32_t>(name.size()),
                  node == kNone ? kUnsetDelegateDebugId
                                : static_cast<int32_t>(graph_.nodes[node].debug_handle)};
  }
  if (own_kernels_) name_own_kernels();
  return Error();
}

void XnnpackDelegate::name_own_kernels() {
  const std::span<const char* const> names = own_kernels_->names();
  for (size_t i = 0; i < std::min(names.size(), logged_.size()); ++i) {
    const std::string_view name = names[i] != nullptr ? names[i] : times_->operators()[i].name;
    logged_[i].name = name.data();
    logged_[i].name_size = static_cast<uint32_t>(name.size());
  }
}

void XnnpackDelegate::log_operators(const BackendExecutionContext& context,
                                    std::span<const uint64_t> ends_ns) const {
  const auto ran = std::span<const TracedOperator>(logged_).first(ends_ns.size());
  context.tracer->record_operators(
      {ran, ends_ns, times_->start_ns(), context.chain_index, context.instruction_id});
}

}  // namespace vitrine::xnnpack
