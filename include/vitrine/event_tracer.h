// EventTracer is the interface through which the executor and delegates log what ran and when.
//
// Records have a fixed size and need no allocation or formatting. All times are nanoseconds of
// CLOCK_MONOTONIC (platform::quick_now_ns). Only the executing thread calls a tracer. Strings in
// records belong to the kernel tables, the Method or its delegates, and must exist until the trace
// has been serialized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace vitrine {

class EValue;       // vitrine/evalue.h
class Delegate;     // vitrine/backend.h
class ValueTracer;  // vitrine/value_tracer.h

inline constexpr int32_t kUnsetChainIndex = -1;
inline constexpr int32_t kUnsetInstructionId = 0;
inline constexpr int32_t kUnsetDelegateDebugId = -1;

struct TraceRecord {
  enum class Kind : uint8_t {
    kScope,  // work outside any instruction: Program::load_method, Method::init, Method::execute
    kKernelCall,        // name: the operator, such as "aten::add.out"
    kDelegateCall,      // name: the backend's id
    kDelegateOperator,  // name: a string identifier or null
    kMove,
    kJumpFalse,
    kFree,
  };

  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  const char* name = nullptr;  // zero-terminated
  // kDelegateOperator: bytes that the backend defines. kKernelCall: name of the kernel table.
  const char* metadata = nullptr;
  uint32_t metadata_size = 0;
  int32_t chain_index = kUnsetChainIndex;
  int32_t instruction_id = kUnsetInstructionId;
  // kDelegateOperator: exactly one of `delegate_debug_id` and `name` is set.
  int32_t delegate_debug_id = kUnsetDelegateDebugId;
  Kind kind = Kind::kScope;
};

// Identifies an operator inside a delegate. The operator's trace records contain these members.
struct TracedOperator {
  const char* name = nullptr;  // metadata of the records; zero-terminated
  uint32_t name_size = 0;
  int32_t debug_id = kUnsetDelegateDebugId;  // if unset, `name` identifies the operator
};

// The operators of one call to a delegate, in the order in which they ran.
struct TracedOperators {
  // Calls of one delegate that run the same operators pass the same list, at the same address.
  std::span<const TracedOperator> operators;
  std::span<const uint64_t> ends_ns;  // when each operator ended
  uint64_t start_ns = 0;              // when the first operator began
  int32_t chain_index = kUnsetChainIndex;
  int32_t instruction_id = kUnsetInstructionId;

  TraceRecord record(size_t i) const {
    const TracedOperator& op = operators[i];
    TraceRecord result;
    result.start_ns = i == 0 ? start_ns : ends_ns[i - 1];
    result.end_ns = ends_ns[i];
    result.name = op.debug_id == kUnsetDelegateDebugId ? op.name : nullptr;
    result.metadata = op.name;
    result.metadata_size = op.name_size;
    result.chain_index = chain_index;
    result.instruction_id = instruction_id;
    result.delegate_debug_id = op.debug_id;
    result.kind = TraceRecord::Kind::kDelegateOperator;
    return result;
  }
};

// The real numbers of an int8 or uint8 tensor: scale * (element - zero_point). In memory order, the
// elements form `rows` groups of equal size. Each group has its own scale and zero point. `scales`
// points to the first float, and `zero_points` to the first int32_t. `stride_bytes` is the stride
// of both arrays.
struct TracedQuantization {
  const void* scales = nullptr;
  const void* zero_points = nullptr;
  size_t stride_bytes = 0;
  size_t rows = 1;

  float scale(size_t row) const { return load<float>(scales, row); }
  int32_t zero_point(size_t row) const { return load<int32_t>(zero_points, row); }

 private:
  template <class T>
  T load(const void* first, size_t row) const {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(first) + row * stride_bytes, sizeof value);
    return value;
  }
};

// A result of an instruction or of an operator inside a delegate, or an output of the method.
struct TracedValue {
  static constexpr int32_t kNoOperator = -1;

  const EValue* value = nullptr;
  int32_t chain_index = kUnsetChainIndex;
  int32_t instruction_id = kUnsetInstructionId;
  // For an operator inside a delegate, one of the next two members is set.
  int32_t delegate_debug_id = kUnsetDelegateDebugId;
  const char* delegate_debug_name = nullptr;
  bool is_method_output = false;  // the value is an output of the method and not of an instruction
  // Index of an operator among the operators that the delegate call logs.
  int32_t operator_index = kNoOperator;
  uint32_t result = 0;  // index among the results of the operator
  // Null if the elements are not quantized. Valid while `value` is valid.
  const TracedQuantization* quantization = nullptr;
};

class EventTracer {
 public:
  virtual ~EventTracer() = default;

  // Names the method of the next blocks. Module calls this. The name is valid while the program
  // exists.
  virtual void begin_method(std::string_view /*name*/) {}
  // Starts a block of records: "Default" for loading, "Execute" for each execution. `name` is a
  // string literal.
  virtual void begin_block(const char* name) = 0;
  virtual void record(const TraceRecord& record) = 0;
  // Records the operators of a delegate call. A tracer may read a list once and recognize the list
  // by its address in later calls.
  virtual void record_operators(const TracedOperators& all) {
    for (size_t i = 0; i < all.operators.size(); ++i) record(all.record(i));
  }

  // Called before each chain of instructions. If the result is false, the executor does not call
  // record_results() in this chain.
  virtual bool wants_results() const { return true; }
  // Called after record() for each step. `arguments` are the step's arguments, including results.
  // `delegate` is null unless the step called a delegate. A result of true excludes the time of
  // record_results() from the time of the next step, at the cost of another reading of the clock.
  // Tracers that need values derive from ValueTracer (vitrine/value_tracer.h).
  virtual bool record_results(const TraceRecord& /*step*/, std::span<EValue* const> /*arguments*/,
                              const Delegate* /*delegate*/) {
    return false;
  }
  // Called after the last record of a successful execution.
  virtual void record_outputs(std::span<EValue* const> /*outputs*/) {}

  // The tracer for the results of a delegate's operators, or null if values are not wanted. A
  // delegate passes each result to record_value() before a later operator reuses the memory.
  virtual ValueTracer* value_tracer() { return nullptr; }
};

}  // namespace vitrine
