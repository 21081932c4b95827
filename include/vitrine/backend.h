// The interface of a delegate's run-time half, and how the executor finds it.
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

namespace vitrine {

class ThreadPool;

struct CompileSpec {
  std::string_view key;
  std::span<const std::byte> value;
};

// A setting for loading. The backend's documentation lists its keys and values.
using OptionValue = std::variant<bool, int64_t, std::string_view>;
struct BackendOption {
  std::string_view backend;  // its id
  std::string_view key;
  OptionValue value;
};

// Memory that delegates hold, in bytes. Shared memory counts once (unless there is no memory to
// remember it).
class DelegateMemory {
 public:
  enum class Kind : uint8_t {
    kWorkspace,      // intermediate values, and what operators keep for their sizes
    kPackedWeights,  // weights in the backend's own layout
    kMappedWeights,  // the same, in a file's pages
    kConstants,      // other constants, kept beside the program
  };
  static constexpr size_t kKinds = 4;

  // `block` identifies the block.
  void add(Kind kind, const void* block, size_t bytes);
  size_t bytes(Kind kind) const { return bytes_[static_cast<size_t>(kind)]; }

 private:
  bool is_new(const void* block);

  // A hash table of `slots_`, a power of two; null where it is empty.
  std::unique_ptr<const void*[]> seen_;
  size_t slots_ = 0;
  size_t used_ = 0;
  std::array<size_t, kKinds> bytes_{};
};

// Valid only during the call, except where stated to outlive the delegate.
struct BackendInitContext {
  const NamedDataMap* named_data = nullptr;  // outlives the delegate; may be null
  ThreadPool* pool = nullptr;                // outlives the delegate; may be null
  EventTracer* tracer = nullptr;             // may be null
  // Identifies the program while it lives; null for a delegate without one. For comparison only.
  const void* program = nullptr;
  // All options given for loading, those of other backends too. If a key is repeated, the last one
  // applies.
  std::span<const BackendOption> options = {};
  // The first instruction that calls this delegate: events about loading are logged under it.
  int32_t chain_index = 0;
  int32_t instruction_id = 0;
  // The method's budgets; both outlive the delegate, and may be null. What a payload can make the
  // backend allocate and look at is taken from them: bytes, and items of lists.
  Budget* memory = nullptr;
  Budget* load_steps = nullptr;
};

struct BackendExecutionContext {
  EventTracer* tracer = nullptr;  // may be null
  int32_t chain_index = 0;
  int32_t instruction_id = 0;
};

// One loaded delegate. Executed by one thread at a time. Destroyed with its Method.
class Delegate {
 public:
  virtual ~Delegate() = default;

  // `arguments`: inputs then outputs, in the delegate's signature order. Resizes outputs. Logs
  // operators into the context's tracer. Allocates nothing unless shapes changed.
  virtual Error execute(const BackendExecutionContext& context,
                        std::span<EValue* const> arguments) = 0;

  // Whether execute() writes argument `index`. The executor refuses to load a call that writes a
  // constant, and asks which inputs' memory is written, and which values' (refuse_overlaps). True
  // where the delegate does not know: one that writes all its arguments counts as such.
  virtual bool is_output(size_t /*index*/) const { return true; }

  // Called once, when all delegates of a method have been made. Its error does not stop the load:
  // Method::warning() returns it.
  virtual Error finish_load() { return Error(); }
  // Adds the memory that this delegate holds now. Must not be called during an execution.
  virtual void report_memory(DelegateMemory&) const {}
};

// Stateless or internally synchronised: one object serves all programs and threads.
class BackendInterface {
 public:
  virtual ~BackendInterface() = default;

  // The id that programs name, e.g. "XnnpackBackend".
  virtual const char* id() const = 0;
  // Turns a delegate's payload into something that runs. `processed` is 16-byte aligned, untrusted,
  // and gone after the call.
  virtual Result<std::unique_ptr<Delegate>> init(
      const BackendInitContext& context, std::span<const std::byte> processed,
      std::span<const CompileSpec> compile_specs) const = 0;
};

// Immutable after set-up; then shared freely between threads. Backends are not owned.
class BackendRegistry {
 public:
  // OutOfResources beyond 16; RegistrationAlreadyRegistered for a second backend of that id.
  Error add(const BackendInterface* backend);
  // Null if there is none.
  const BackendInterface* find(std::string_view id) const;

 private:
  std::array<const BackendInterface*, 16> backends_{};
  size_t count_ = 0;
};

}  // namespace vitrine
