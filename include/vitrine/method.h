// A method of a program, loaded once and executed many times.
//
//   auto program = Program::load(std::move(source));
//   auto method = Method::load(*program, "forward", {.kernels = &kernels, .backends = &backends});
//   (*method)->set_input(0, EValue(&tensor));
//   (*method)->execute();
//   Result<Tensor*> result = (*method)->output(0).as_tensor();
//
// Loading finds every kernel and backend. Executions do not look up names or parse; only the first
// one, and those with other sizes than the one before, may allocate: kernels' temporary memory and
// delegates' plans and workspaces. Several Methods of one Program are independent and may run in
// several threads at once, unless they share state; one Method serves one thread at a time.
#pragma once

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
#include "vitrine/run_trial.h"
#include "vitrine/shared_state.h"

namespace vitrine {

class MethodLoader;  // runtime/executor/method_loader.h
class ThreadPool;

// For MethodOptions::check_plan. InvalidProgram if the memory plan gives a value's bytes to another
// value while the first is still needed; the error names both, their bytes and the instructions
// (docs/trust.md). It takes the time of sorting the values. Its memory is taken from the method's
// budget and returned.
Error refuse_overlaps(MethodLoader& loader);

// Bounds on what a hostile file can ask for (docs/trust.md). 0 stands for the default.
struct MethodLimits {
  // Memory for loading and running: activations, values, kernels' temporary memory, delegates, what
  // they pack, their workspaces. By default as much as the machine or the container has.
  uint64_t max_memory_bytes = 0;
  // Work of loading, in items looked at. By default 16 a byte of the files, and a million.
  uint64_t max_load_steps = 0;
  // By default 10 million.
  uint64_t max_instructions_per_run = 0;
};

// Pointers are not owned and outlive the Method. Null means "none of these".
struct MethodOptions {
  const KernelRegistry* kernels = nullptr;
  const BackendRegistry* backends = nullptr;
  const NamedDataMap* external_data = nullptr;  // a .ptd's
  ThreadPool* pool = nullptr;
  // InvalidArgument if a backend that the method uses does not know one of its keys.
  std::span<const BackendOption> backend_options = {};
  // Attached for loading and execution; see set_tracer.
  EventTracer* tracer = nullptr;
  // Memory for activations: MethodMeta::num_planned_buffers() spans of at least
  // planned_buffer_size(i) bytes, 16-byte aligned, zeroed where the program keeps state. Empty: the
  // Method takes zeroed memory of its own. With kReadableSlack bytes more at each buffer's end
  // delegates need no copies of what lies there.
  std::span<const std::span<std::byte>> planned_memory = {};
  // Replaces the planned buffer that methods of the program share (planned_memory[1] is ignored).
  // It must be of this program. Null: the method has its own state.
  SharedState* shared_state = nullptr;
  MethodLimits limits = {};
  // refuse_overlaps, which the facade and the tools use, for plans that may be wrong. Null: a plan
  // that writes over values that are still needed gives wrong numbers. Kernels stay inside of their
  // tensors with any plan.
  Error (*check_plan)(MethodLoader& loader) = nullptr;
};

// The memory of a loaded method, in bytes, without its program's file.
struct MemoryUsage {
  uint64_t planned = 0;    // activations; 0 if the caller's
  uint64_t shared = 0;     // of MethodOptions::shared_state, by all methods together
  uint64_t metadata = 0;   // values, tensors, steps, and what allocate_outputs() gave
  uint64_t temporary = 0;  // kernels' temporary memory: the most so far
  DelegateMemory delegates;
  uint64_t budget = 0;  // MethodLimits::max_memory_bytes, or what stands for it
  uint64_t taken = 0;   // of the budget, now
};

struct Step;  // runtime/executor/step.h

class Method {
 public:
  // OperatorMissing names every operator and backend that is missing, not only the first; NotFound
  // if backends alone are missing.
  static Result<std::unique_ptr<Method>> load(std::shared_ptr<const Program> program,
                                              std::string_view name, const MethodOptions& options);
  ~Method();
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  const MethodMeta& meta() const { return meta_; }
  const Program& program() const { return *program_; }

  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  // None if there are not so many. An input is the program's own value, whatever an execution put
  // in its place. Outputs are valid until the next set_input() or execution: an input may have the
  // planned memory of an output.
  const EValue& input(size_t index) const;
  const EValue& output(size_t index) const {
    return index < outputs_.size() ? *outputs_[index] : kNone;
  }

  // A tensor: of the planned dtype and dim order; its sizes may differ within the bounds of a
  // dynamic shape. It is copied if the input is memory-planned, else aliased: it then outlives the
  // execution, may be written if the program mutates its input, and must not lie in planned memory
  // of this method, where its outputs may be. Other kinds must equal the value y that the program
  // was exported with, and computes with: doubles to 1e-4 + 1e-5 * |y|, as in ExecuTorch. Lists of
  // tensors cannot be set. InvalidArgument or NotSupported name the mismatch.
  Error set_input(size_t index, const EValue& value);
  // Memory for an output tensor that is not memory-planned: at least the bytes of its
  // MethodMeta, aligned for its dtype. It is not owned, is written by every execution from now on
  // (a result that a branch or a view has elsewhere is copied to it), and so must live until other
  // memory is set or the Method is destroyed. It must not overlap inputs that are not planned. With
  // kReadableSlack more bytes, delegates need not copy it. InvalidState if the output is an input,
  // too: it has the input's memory.
  Error set_output_data(size_t index, std::span<std::byte> memory);
  // Memory of the Method's own, zeroed, for all such outputs that have none yet.
  // MemoryAllocationFailed if it is more than MethodLimits::max_memory_bytes leaves.
  Error allocate_outputs();

  // Begins with the program's own values and the memory that was set: what the execution before
  // moved, counted or made a view of is gone. Fails at the first instruction that fails, and names
  // it. InvalidState if an input is not set, or if the last execution may have written over it:
  // inputs that share planned memory with what the program writes must be set before each
  // execution, others keep their values. InvalidState, without any effect, while another method
  // uses the state that they share.
  Error execute();

  // What the program's tensors of static shape have in planned memory is as after loading: zeros,
  // or the program's value. So are states that the method keeps between executions, and those that
  // it shares. Inputs that are memory-planned must be set again. InvalidState, without any effect,
  // while another method uses the state that they share. After an error half way, as one of reading
  // the file, nothing executes over this memory until a call succeeds.
  Error reset_state();

  // An error that did not stop loading, e.g. a cache that cannot be written; success if there was
  // none.
  const Error& warning() const { return warning_; }

  // Must not be called during an execution. The first execution may allocate temporary memory and
  // workspaces.
  MemoryUsage memory_usage() const;
  // Adds it to that of other methods: what they share counts once.
  void add_memory_usage(MemoryUsage& sum) const;

  // Later executions log into `tracer` (null: none). Delegates give their operators' times only if
  // a tracer was there when they were loaded.
  void set_tracer(EventTracer* tracer) { tracer_ = tracer; }

 private:
  friend class MethodLoader;
  static constexpr EValue kNone{};
  struct FreePlanned {
    void operator()(std::byte* memory) const;
  };
  // A value that steps may exchange, or give other memory. Each execution begins with what it was.
  struct Restored {
    EValue* value = nullptr;
    EValue before;
    Tensor memory;          // a copy of its tensor, when that had its own memory
    bool is_given = false;  // by set_output_data(), to an output
    // Whether an execution left the result of such an output elsewhere.
    bool is_elsewhere() const;
  };
  struct Input {
    EValue* value = nullptr;
    Restored* restored = nullptr;  // null: an execution leaves it as it is
    bool is_set = false;
    bool is_planned = false;
    bool is_reused = false;   // an execution may write over it
    bool was_reused = false;  // and one did, since it was set
  };
  // Empty: there is no memory.
  struct PlannedBuffer {
    std::byte* data = nullptr;
    uint64_t readable = 0;  // bytes from there on
  };
  // The steps of one chain of instructions: [first, first + count).
  struct ChainSteps {
    uint32_t first;
    uint32_t count;
  };

  Method(std::shared_ptr<const Program> program, const MethodMeta& meta,
         const MethodOptions& options);
  // Whether planned buffer `index` is that of the shared state.
  bool is_shared(size_t index) const {
    return shared_state_ != nullptr && index + 1 == SharedState::kMemoryId;
  }
  Error no_turn() const;
  bool is_input(const EValue* value) const;
  Restored* find_restored(const EValue* value) const;
  void restore();
  Error set_aside(EValue& result);
  Error place_results();
  static Error deliver(Method& method);
  std::span<std::byte> bytes_to_reset(uint32_t value) const;
  Error zero_states();
  Error set_initial(uint32_t value, std::span<std::byte> to);
  void mark_half_reset(bool is_half_reset);
  Error run();
  Error run_chain(int32_t chain_index, const ChainSteps& chain, uint64_t* budget);
  Error at(const Step& step, int32_t chain_index, size_t position, Error error) const;

  std::shared_ptr<const Program> program_;
  MethodMeta meta_;
  EventTracer* tracer_;
  SharedState* shared_state_ = nullptr;  // if the method has buffers there
  bool is_half_reset_ = false;           // a reset_state() failed after it began
  uint64_t max_instructions_;
  Budget memory_;
  Budget load_steps_;
  Error warning_;
  HeapArena arena_;  // values, tensors, steps, argument lists
  HeapArena temp_;   // kernels' temporary memory, reset after each step
  KernelContext kernel_context_;
  RunTrial trial_;
  MergedNamedData named_data_;
  std::unique_ptr<std::byte, FreePlanned> planned_;
  std::span<PlannedBuffer> buffers_;  // there, in a shared state, or the caller's
  std::span<EValue> values_;
  std::span<Input> inputs_;
  std::span<EValue*> outputs_;
  std::span<Restored> restored_;  // by address of their values
  // Set by set_output_data(): without it, nothing of this is linked.
  Error (*deliver_)(Method& method) = nullptr;
  std::span<Step> steps_;
  std::span<ChainSteps> chains_;
  std::span<Delegate*> delegates_;   // owned
  std::span<DataBuffer*> external_;  // owned: data of external constants
};

}  // namespace vitrine
