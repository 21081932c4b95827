// Method is one entry point of a Program. A Method is loaded once and executed many times.
//
//   auto program = Program::load(std::move(source));
//   auto method = Method::load(*program, "forward", {.kernels = &kernels, .backends = &backends});
//   (*method)->set_input(0, EValue(&tensor));
//   (*method)->execute();
//   Result<Tensor*> result = (*method)->output(0).as_tensor();
//
// Loading finds every kernel and backend. An execution allocates memory only if it is the first
// execution, or if tensor sizes have changed since the previous execution. This memory is for
// temporary data of kernels, and plans and workspaces of delegates.
//
// One thread at a time may use a Method, except for cancel(). Several Methods of one Program are
// independent and may run on several threads at once, unless they share state
// (vitrine/shared_state.h).
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string_view>

#include "vitrine/backend.h"
#include "vitrine/budget.h"
#include "vitrine/error.h"
#include "vitrine/evalue.h"
#include "vitrine/event_tracer.h"
#include "vitrine/kernel_registry.h"
#include "vitrine/memory_allocator.h"
#include "vitrine/program.h"
#include "vitrine/shared_state.h"

namespace vitrine {

class ThreadPool;

// A check of memory plans. Only executables that name a check link its code.
struct PlanCheck;  // runtime/executor/method_loader.h

// Rejects memory plans in which a value overwrites another value that is still needed. Loading then
// returns InvalidProgram. The error names both values, their bytes and the instructions
// (docs/trust.md). The check takes about as long as sorting the values.
extern const PlanCheck refuse_overlaps;

// Limits on the resources that a hostile file can use (docs/trust.md). In every member, 0 selects
// the default.
struct MethodLimits {
  // Memory for loading and running: activations, values, temporary memory of kernels, and delegates
  // with their packed weights and workspaces. Default: the memory that is available to the process
  // at load.
  uint64_t max_memory_bytes = 0;
  // Maximum amount of work for loading. Reading one list element is one step of work. Default: 16
  // steps per byte of the files, plus a million.
  uint64_t max_load_steps = 0;
  // Maximum number of instructions in one execution. Default: 10 million.
  uint64_t max_instructions_per_run = 0;
  // Maximum time of one execution, checked before each instruction and between the operators of a
  // delegate. Default: no limit.
  uint64_t max_milliseconds_per_run = 0;
};

// Options for Method::load(). Objects behind pointers must outlive the Method. Pointers may be
// null.
struct MethodOptions {
  const KernelRegistry* kernels = nullptr;
  const BackendRegistry* backends = nullptr;
  const NamedDataMap* external_data = nullptr;  // the content of a .ptd file
  ThreadPool* pool = nullptr;
  // Options of backends. Loading returns InvalidArgument if a backend of the method does not know
  // the key of one of its options. Options of other backends are ignored.
  std::span<const BackendOption> backend_options = {};
  // Traces loading and execution. See set_tracer().
  EventTracer* tracer = nullptr;
  // Memory for activations: one span for each planned buffer (MethodMeta::num_planned_buffers()).
  // Span i must have at least planned_buffer_size(i) bytes, be 16-byte aligned, and be zeroed if
  // the program keeps state. Without spans, the Method allocates zeroed memory. If a span has
  // kReadableSlack more bytes, delegates need not copy tensors at the end of the buffer.
  std::span<const std::span<std::byte>> planned_memory = {};
  // State that replaces planned_memory[1], so that several methods of a program share it. The state
  // must have been created for this program. If null, the method has its own state.
  SharedState* shared_state = nullptr;
  MethodLimits limits = {};
  // Checks the memory plan at load. Module and the tools pass &refuse_overlaps. If null, a wrong
  // plan can overwrite values that are still needed, which makes results wrong. Kernels never
  // access memory outside their tensors in either case.
  const PlanCheck* check_plan = nullptr;
  // Loads a method even if nothing writes one of its outputs. Method::warning() then names the
  // output, which has unspecified bytes (docs/trust.md). By default, loading such a method fails
  // with InvalidProgram.
  bool accept_unwritten_outputs = false;
  // The flag that Method::cancel() sets, or null for a flag of the Method. Any thread and a signal
  // handler may set the flag. While the flag is true, executions of all methods with this flag
  // return Canceled. Only the caller clears the flag.
  std::atomic<bool>* cancel_flag = nullptr;
};

// The memory of a loaded method in bytes, without the program's file.
struct MemoryUsage {
  uint64_t planned = 0;    // activations; 0 if the caller supplied the memory
  uint64_t shared = 0;     // MethodOptions::shared_state, which several methods use together
  uint64_t metadata = 0;   // values, tensors, steps, and the outputs of allocate_outputs()
  uint64_t temporary = 0;  // largest temporary memory of kernels so far
  DelegateMemory delegates;
  uint64_t budget = 0;  // MethodLimits::max_memory_bytes or its default
  uint64_t taken = 0;   // part of the budget in use now
};

class DerivedData;   // runtime/extension/derived_data.h
class SharedMemory;  // runtime/executor/shared_memory.h
struct Step;         // runtime/executor/step.h

class Method {
 public:
  // Returns OperatorMissing if operators are missing, and NotFound if only backends are missing.
  // The message names all missing operators and backends.
  static Result<std::unique_ptr<Method>> load(std::shared_ptr<const Program> program,
                                              std::string_view name, const MethodOptions& options);
  ~Method();
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  const MethodMeta& meta() const { return meta_; }
  const Program& program() const { return *program_; }

  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  // input() and output() return None if `index` is out of range. input() returns the value from
  // set_input(), even if an instruction has replaced this value. Outputs are valid until the next
  // execution or set_input(), because an input and an output may share planned memory.
  const EValue& input(size_t index) const;
  const EValue& output(size_t index) const {
    return index < outputs_.size() ? *outputs_[index] : kNone;
  }

  // Sets an input. A tensor must have the planned dtype and dim order. Its sizes may vary within
  // the bounds of a dynamic shape. A memory-planned input is copied. For other inputs, executions
  // use the tensor's own memory. This memory must be aligned for the dtype, outlive the executions,
  // and not be in planned memory of this method. The program writes to this memory if it mutates
  // the input.
  //
  // A number, string or list must equal the value y that export fixed in the program. A double may
  // differ from y by 1e-4 + 1e-5 * |y|, as in ExecuTorch. Lists of tensors cannot be set. Returns
  // InvalidArgument or NotSupported if the value does not fit the input.
  Error set_input(size_t index, const EValue& value);
  // Sets the memory of an output tensor that is not memory-planned. The memory must have at least
  // the size that MethodMeta returns, be aligned for the dtype, and not overlap inputs that are not
  // memory-planned. Every execution writes to this memory, so it must exist until other memory is
  // set or the Method is destroyed. If the memory has kReadableSlack more bytes, delegates need not
  // copy the output. Returns InvalidState if the output is also an input, because the output then
  // uses the memory of the input.
  Error set_output_data(size_t index, std::span<std::byte> memory);
  // Allocates zeroed memory for every output tensor that is not memory-planned, is not also an
  // input, and has no memory yet. The Method owns this memory. Returns MemoryAllocationFailed if
  // MethodLimits::max_memory_bytes would be exceeded.
  Error allocate_outputs();

  // Runs the method. If an earlier execution replaced values or moved tensors to other memory,
  // these changes are undone first. Stops at the first instruction that fails. The error names the
  // instruction.
  //
  // Returns InvalidState if an input is not set. Inputs stay set, except inputs that share planned
  // memory with values that the program writes. Set these inputs before each execution. Returns
  // InvalidState without any effect while another method uses the shared state.
  //
  // Returns Canceled after cancel(), OutOfResources after max_milliseconds_per_run, and
  // InvalidProgram after max_instructions_per_run. The outputs are then unspecified, and the
  // program's state contains the writes of the finished instructions. The method can run again. If
  // the method keeps state, call reset_state() first.
  Error execute();
  // Ends the current execution, if any, before its next instruction or the next operator of a
  // delegate. May be called from any thread and from a signal handler.
  void cancel() { cancel_flag_->store(true, std::memory_order_relaxed); }

  // Resets the state that the method keeps between executions or shares with other methods. Each
  // tensor of static shape in planned memory gets its initial value in the program, or zeros.
  // Memory-planned inputs must be set again. Returns InvalidState without any effect while another
  // method uses the shared state. If the reset fails halfway, for example because the file cannot
  // be read, execute() fails until a call to reset_state() succeeds.
  Error reset_state();

  // An error that did not stop loading, such as a cache file that cannot be written. Otherwise
  // success.
  const Error& warning() const { return warning_; }

  // Must not be called during an execution. The numbers can grow at the first execution, which may
  // allocate temporary memory and workspaces.
  MemoryUsage memory_usage() const;
  // Adds the memory of this method to `sum`. Memory that several methods share is counted once.
  void add_memory_usage(MemoryUsage& sum) const;

  // Sets the tracer of later executions. Null removes the tracer. Delegates record the times of
  // their operators only if a tracer was attached when they were loaded.
  void set_tracer(EventTracer* tracer) { tracer_ = tracer; }

 private:
  friend class MethodLoader;
  static constexpr EValue kNone{};
  struct FreePlanned {
    void operator()(std::byte* memory) const;
  };
  // runtime/executor/method_parts.h
  struct ChainSteps;
  struct Input;
  struct PlannedBuffer;
  struct RestoredValue;

  Method(std::shared_ptr<const Program> program, const MethodMeta& meta,
         const MethodOptions& options);
  // True if planned buffer `index` belongs to the shared state.
  bool is_shared(size_t index) const;
  Error state_in_use_error() const;
  bool is_input(const EValue* value) const;
  RestoredValue* find_restored(const EValue* value) const;
  void restore();
  Error copy_to_temporary(EValue& result);
  Error copy_moved_outputs();
  static Error finish_outputs(Method& method);
  std::span<std::byte> bytes_to_reset(uint32_t value) const;
  Error zero_state_memory();
  Error copy_initial_value(uint32_t value, std::span<std::byte> to);
  void set_half_reset(bool is_half_reset);
  Error run();
  Error run_chain(int32_t chain_index, const ChainSteps& chain, uint64_t* budget);
  Error add_location(const Step& step, int32_t chain_index, size_t position, Error error) const;

  std::shared_ptr<const Program> program_;
  MethodMeta meta_;
  EventTracer* tracer_;
  SharedMemory* shared_state_ = nullptr;  // null if the method has no shared buffer
  bool is_half_reset_ = false;            // a reset_state() failed halfway
  uint64_t max_instructions_;
  uint64_t max_milliseconds_;
  std::atomic<bool> is_canceled_ = false;
  std::atomic<bool>* cancel_flag_;  // is_canceled_, or MethodOptions::cancel_flag
  StopSignal stop_;
  Budget memory_;
  Budget load_steps_;
  Error warning_;
  HeapArena arena_;  // values, tensors, steps, argument lists
  HeapArena temp_;   // temporary memory of kernels, reset after each step
  std::unique_ptr<DerivedData> derived_;
  KernelContext kernel_context_;
  MergedNamedData named_data_;
  std::unique_ptr<std::byte, FreePlanned> planned_;
  std::span<PlannedBuffer> buffers_;  // in planned_, in the shared state, or in the caller's memory
  std::span<EValue> values_;
  std::span<Input> inputs_;
  std::span<EValue*> outputs_;
  std::span<RestoredValue> restored_;  // sorted by the address of `value`
  // Null until set_output_data() sets it to finish_outputs(). Executables that do not call
  // set_output_data() therefore do not link finish_outputs().
  Error (*finish_outputs_)(Method& method) = nullptr;
  std::span<Step> steps_;
  std::span<ChainSteps> chains_;
  std::span<Delegate*> delegates_;   // owned
  std::span<DataBuffer*> external_;  // owned; data of external constants
};

}  // namespace vitrine
