// The interface into which the executor and the delegates log what they did and when.
//
// A record is fixed-size; taking one allocates nothing and formats nothing. All times are
// nanoseconds of CLOCK_MONOTONIC (platform::quick_now_ns). One thread writes: the one that
// executes. Strings in records are not copied: they belong to the kernel tables, the Method or its
// delegates, and must live until the trace has been serialised.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vitrine {

class EValue;    // vitrine/evalue.h
class Delegate;  // vitrine/backend.h

inline constexpr int32_t kUnsetChainIndex = -1;
inline constexpr int32_t kUnsetInstructionId = 0;
inline constexpr int32_t kUnsetDelegateDebugId = -1;

struct TraceRecord {
  enum class Kind : uint8_t {
    kScope,         // Program::load_method, Method::init, Method::execute: outside any instruction
    kKernelCall,    // name: "aten::add.out"
    kDelegateCall,  // name: the backend's id
    kDelegateOperator,  // name: a string identifier or null; metadata: the backend's
    kMove,
    kJumpFalse,
    kFree,
  };

  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  const char* name = nullptr;  // zero-terminated
  // kDelegateOperator: the backend's bytes. kKernelCall: the kernel table's name.
  const char* metadata = nullptr;
  uint32_t metadata_size = 0;
  int32_t chain_index = kUnsetChainIndex;
  int32_t instruction_id = kUnsetInstructionId;
  // kDelegateOperator: exactly one of this and `name` is set.
  int32_t delegate_debug_id = kUnsetDelegateDebugId;
  Kind kind = Kind::kScope;
};

// What identifies an operator of a delegate in its records.
struct TracedOperator {
  const char* name = nullptr;  // the records' metadata; zero-terminated
  uint32_t name_size = 0;
  int32_t debug_id = kUnsetDelegateDebugId;  // unset: `name` identifies it
};

// The operators of one call of a delegate, which ran one after the other.
struct TracedOperators {
  // At the same place in memory in every call that runs the same operators.
  std::span<const TracedOperator> operators;
  std::span<const uint64_t> ends_ns;  // as many
  uint64_t start_ns = 0;              // of the first
  int32_t chain_index = kUnsetChainIndex;
  int32_t instruction_id = kUnsetInstructionId;

  TraceRecord record(size_t i) const {
    const TracedOperator& of = operators[i];
    TraceRecord result;
    result.start_ns = i == 0 ? start_ns : ends_ns[i - 1];
    result.end_ns = ends_ns[i];
    result.name = of.debug_id == kUnsetDelegateDebugId ? of.name : nullptr;
    result.metadata = of.name;
    result.metadata_size = of.name_size;
    result.chain_index = chain_index;
    result.instruction_id = instruction_id;
    result.delegate_debug_id = of.debug_id;
    result.kind = TraceRecord::Kind::kDelegateOperator;
    return result;
  }
};

// A result of an instruction or of an operator inside a delegate, or an output of the method.
struct TracedValue {
  const EValue* value = nullptr;
  int32_t chain_index = kUnsetChainIndex;
  int32_t instruction_id = kUnsetInstructionId;
  // For an operator inside a delegate, one of these is set.
  int32_t delegate_debug_id = kUnsetDelegateDebugId;
  const char* delegate_debug_name = nullptr;
  bool is_method_output = false;  // then outside any instruction
};

class EventTracer {
 public:
  virtual ~EventTracer() = default;

  // The method of the blocks that follow. A Module calls this; the name lives as long as its
  // program.
  virtual void begin_method(std::string_view /*name*/) {}
  // Starts a block of records: "Default" for loading, "Execute" for each execution. The name is a
  // literal.
  virtual void begin_block(const char* name) = 0;
  virtual void record(const TraceRecord& record) = 0;
  // A record of each. Tracers that know a list again by its place need not read it.
  virtual void record_operators(const TracedOperators& all) {
    for (size_t i = 0; i < all.operators.size(); ++i) record(all.record(i));
  }

  // Follows the record of each step: what it was given and has produced (`delegate`: of a delegate
  // call). True if that took time, which then lies between the steps' times. Those who want values
  // derive from ValueTracer (vitrine/value_tracer.h).
  virtual bool record_results(const TraceRecord& /*step*/, std::span<EValue* const> /*arguments*/,
                              const Delegate* /*delegate*/) {
    return false;
  }
  // Follows the last record of an execution that has succeeded.
  virtual void record_outputs(std::span<EValue* const> /*outputs*/) {}
};

}  // namespace vitrine
