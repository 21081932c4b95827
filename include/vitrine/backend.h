// The interface of backends, which run delegates, and the registry of backends.
//
// A backend turns the payload of a delegate into a Delegate object when a method is loaded.
// docs/writing_a_backend.md has an example.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "vitrine/budget.h"
#include "vitrine/error.h"
#include "vitrine/evalue.h"
#include "vitrine/event_tracer.h"
#include "vitrine/named_data.h"
#include "vitrine/stop_signal.h"

namespace vitrine {

class ThreadPool;

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// An option that a backend reads when a method is loaded. The backend's documentation lists the
// keys and values.
using OptionValue = std::variant<bool, int64_t, std::string_view>;
struct BackendOption {
  std::string_view backend;  // the backend's id
  std::string_view key;
  OptionValue value;
};

// Sums the memory of delegates, in bytes. A block that delegates share is counted once. If memory
// runs out, a shared block may be counted several times.
class DelegateMemory {
 public:
  enum class Kind : uint8_t {
    kWorkspace,      // intermediate tensors, and tables that operators keep for their sizes
    kPackedWeights,  // weights in the backend's own layout
    kMappedWeights,  // packed weights in the pages of a mapped file
    kConstants,      // other constants that are copied out of the program
  };
  static constexpr size_t kKinds = 4;

  // `block` is the address of the block. Blocks with the same address are counted once.
  void add(Kind kind, const void* block, size_t bytes);
  size_t bytes(Kind kind) const { return bytes_[static_cast<size_t>(kind)]; }

 private:
  bool is_new(const void* block);

  // Hash table of the counted blocks, with null in empty slots.
  std::unique_ptr<const void*[]> seen_;  // slots_ elements; slots_ is a power of two
  size_t slots_ = 0;
  size_t used_ = 0;
  std::array<size_t, kKinds> bytes_{};
};

// The arguments of BackendInterface::init(). Pointers and spans are valid only during the call,
// unless their comments say that they outlive the delegate.
struct BackendInitContext {
  const NamedDataMap* named_data = nullptr;  // outlives the delegate; may be null
  ThreadPool* pool = nullptr;                // outlives the delegate; may be null
  EventTracer* tracer = nullptr;             // may be null
  // Identifies the loaded program. May be compared but not dereferenced. Null if the delegate does
  // not belong to a program.
  const void* program = nullptr;
  // All options for loading, including those of other backends. For a repeated key, the last option
  // applies.
  std::span<const BackendOption> options = {};
  // The first instruction that calls this delegate, for load events in the trace.
  int32_t chain_index = 0;
  int32_t instruction_id = 0;
  // True if all tensors that the program passes to this delegate have fixed sizes.
  bool has_fixed_sizes = false;
  // The method's budgets, which outlive the delegate and may be null. Payloads are untrusted: the
  // backend must charge allocated bytes to `memory`, and the list elements that it reads to
  // `load_steps`.
  Budget* memory = nullptr;
  Budget* load_steps = nullptr;
};

struct BackendExecutionContext {
  EventTracer* tracer = nullptr;  // may be null
  int32_t chain_index = 0;
  int32_t instruction_id = 0;
  const StopSignal* stop = nullptr;  // may be null
  // Blocks of planned memory for this call, in the order in which the backend requested the blocks
  // when the program was made. Their content is undefined before and after the call. Their
  // addresses stay the same while the method is loaded. Empty if the program does not reserve
  // blocks, as in ExecuTorch 1.5 and earlier.
  std::span<const std::span<std::byte>> scratch = {};

  bool must_stop() const { return stop != nullptr && stop->is_set(); }
};

// A loaded delegate, which its Method owns. One thread at a time executes a delegate.
class Delegate {
 public:
  virtual ~Delegate() = default;

  // Runs the delegate. `arguments` are the inputs, followed by the outputs, in the order of the
  // delegate's signature. Resizes the outputs and logs operators to the context's tracer. Must not
  // allocate unless shapes have changed since the last call. Checks context.must_stop() between
  // operators. If must_stop() is true, returns context.stop->error(), and stays usable.
  virtual Error execute(const BackendExecutionContext& context,
                        std::span<EValue* const> arguments) = 0;

  // True if execute() may write argument `index`. The executor uses this to reject calls that write
  // a constant, to find inputs whose memory is overwritten, and to check the memory plan
  // (MethodOptions::check_plan). If a delegate returns true for every argument, the check of the
  // plan cannot distinguish inputs from outputs.
  virtual bool is_output(size_t /*index*/) const { return true; }

  // Called once, after all delegates of a method were made. An error does not stop loading.
  // Method::warning() returns the error.
  virtual Error finish_load() { return Error(); }
  // Allocates, in advance, the memory for an execution with the largest declared sizes.
  // report_memory() then counts this memory even before the first execution. At the end of loading,
  // the executor calls plan_memory() once for each delegate call whose arguments all have fixed
  // sizes. An error stops loading.
  virtual Error plan_memory() { return Error(); }
  // Adds the current memory of this delegate. Not called during an execution.
  virtual void report_memory(DelegateMemory&) const {}
};

// One object serves all programs and threads, so implementations must be stateless or thread-safe.
class BackendInterface {
 public:
  virtual ~BackendInterface() = default;

  // The id in programs, such as "XnnpackBackend".
  virtual const char* id() const = 0;
  // Makes a Delegate from a payload. The payload is untrusted, 16-byte aligned, and valid during
  // the call only.
  virtual Result<std::unique_ptr<Delegate>> init(
      const BackendInitContext& context, std::span<const std::byte> payload,
      std::span<const CompileSpec> compile_specs) const = 0;
};

// Finds backends by their id. Once all backends are added, threads may share the registry. Does not
// own the backends.
class BackendRegistry {
 public:
  // Returns OutOfResources after 16 backends, and RegistrationAlreadyRegistered for a used id.
  Error add(const BackendInterface* backend);
  // Null if no backend has this id.
  const BackendInterface* find(std::string_view id) const;

 private:
  std::array<const BackendInterface*, 16> backends_{};
  size_t count_ = 0;
};

}  // namespace vitrine
