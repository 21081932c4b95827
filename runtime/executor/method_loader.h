// MethodLoader turns an execution plan into a Method: memory, values, kernels, delegates and steps.
//
// The plan was verified (runtime/program/program_verifier.h), so indices are not checked again.
// Most stages have their own file, such as load_values.cc.
#pragma once

#include <memory>
#include <span>

#include "runtime/executor/method_parts.h"
#include "runtime/executor/shared_memory.h"
#include "runtime/executor/step.h"
#include "runtime/program/program_access.h"
#include "vitrine/method.h"

namespace vitrine {

namespace fbs = schema::program;
using IndexVector = flatbuffers::Vector<int32_t>;

// Returns the indices of the values in a list of tensors, or null for other values. A negative
// index means None.
inline const IndexVector* tensors_of_list(const fbs::EValue& value) {
  if (const auto* list = value.val_as_TensorList()) return list->items();
  const auto* list = value.val_as_OptionalTensorList();
  return list != nullptr ? list->items() : nullptr;
}

// True if the kernel writes the argument. `outputs` is Kernel::outputs.
inline bool is_written(uint32_t outputs, uint32_t argument) {
  return argument < 32 && (outputs >> argument & 1u) != 0;
}

class MethodLoader;
struct PlanCheck {
  Error (*check)(MethodLoader& loader);
  // Calls MethodLoader::keep_results(). Precondition: `check` has accepted the plan. An invalid
  // plan may reuse the memory of a result that is still needed.
  void (*keep_results)(MethodLoader& loader);
};

class MethodLoader {
 public:
  MethodLoader(Method& method, const MethodOptions& options)
      : method_(method),
        options_(options),
        plan_(ProgramAccess::plan(method.meta_)),
        program_(*method.program_),
        arena_(method.arena_),
        scratch_(64, &method.memory_) {}

  Error load();

  void keep_results();

  class OverlapCheck;  // refuse_overlaps.cc
  class ResultKeeper;  // keep_results.cc

 private:
  struct ResolvedOperator {
    FoundKernel found;
    const char* name = nullptr;
  };

  // Runs `stage`. If the plan has delegates, records the stage as a scope of the trace.
  Error trace_stage(const char* name, Error (MethodLoader::*stage)());

  Error find_kernels_and_backends();
  bool has_backend(uint32_t delegate) const;
  Error missing_names_error();

  Error find_shared_state();
  Error take_planned_memory();
  // Asks the system for huge pages, unless a run may leave much of the planned memory unused.
  void prefer_huge_pages();
  static bool has_fixed_size(const EValue& value) {
    return !value.is_tensor() || value.unchecked_tensor().dynamism() == ShapeDynamism::kStatic;
  }
  Error check_planned_memory();

  Error make_values();
  Error make_value(const fbs::EValue& from, EValue& to);
  Error make_bool_list(const flatbuffers::Vector<uint8_t>& items, EValue& to);
  Error make_int_list(const flatbuffers::Vector<int64_t>& items, EValue& to);
  Error make_tensor_list(const flatbuffers::Vector<int32_t>& items, bool optional, EValue& to);
  Error make_tensor(const fbs::Tensor& from, EValue& to);
  Error find_data(const fbs::Tensor& from, Tensor& tensor);
  Error find_contents(const fbs::Tensor& from, Tensor& tensor);
  Error copy_initial(std::span<const std::byte> bytes, Tensor& tensor);
  Error set_constant(std::span<const std::byte> bytes, bool has_slack, Tensor& tensor);
  Error find_external_data(const fbs::ExtraTensorInfo& extra, bool is_mutable, Tensor& tensor);

  Error make_inputs_and_outputs();

  Error load_delegates();
  Result<std::unique_ptr<Delegate>> load_delegate(const fbs::BackendDelegate& delegate,
                                                  BackendInitContext& context);
  Error find_first_calls(std::span<BackendInitContext> contexts);

  Error make_steps();
  // Calls Delegate::plan_memory() for each delegate call whose arguments have fixed sizes.
  Error plan_delegates();
  Error make_step(const fbs::Instruction& from, Step& step);
  Error make_kernel_step(const fbs::KernelCall& call, Step& step);
  uint32_t first_result(const fbs::KernelCall& call) const;
  Error make_delegate_step(const fbs::DelegateCall& call, Step& step);
  Error set_scratch(const fbs::DelegateCall& call, Step& step);
  Error set_arguments(const int32_t* indices, size_t count, Step& step);
  Error note_dtypes(const Step& step, uint32_t kernel_dtypes);
  Error missing_dtypes_error();

  // A range of bytes in a planned buffer. Buffer 0 means no planned memory.
  struct PlannedRange {
    uint32_t buffer = 0;
    uint64_t begin = 0;
    uint64_t end = 0;

    bool operator<(const PlannedRange& other) const {
      return buffer != other.buffer ? buffer < other.buffer : begin < other.begin;
    }
  };
  Error mark_written(int32_t value);
  // Checks the outputs of the method, and the delegate inputs that other steps use. Returns
  // InvalidProgram or records a warning for a value that has no source (see has_source()) and
  // cannot be a view of a written value.
  Error check_written();
  Error check_written(uint32_t value, const char* name);
  bool has_source(uint32_t value) const;
  Result<bool> is_read_besides(const Step& step, uint32_t value);
  Error find_reused_inputs();
  PlannedRange planned_range(uint32_t value) const;
  Error sort_written_ranges();
  bool overlaps_written(uint32_t value) const;
  Result<bool> overlaps_scratch(const Tensor& tensor);
  Error save_exchanged_values();

  Error no_memory(const char* what) const;
  // Charges the load budget. Returns OutOfResources if MethodLimits::max_load_steps is used up.
  Error charge_steps(uint64_t steps);
  // Charges the load budget for bytes that are read or copied.
  Error charge_bytes(uint64_t bytes);

  Method& method_;
  const MethodOptions& options_;
  const fbs::ExecutionPlan& plan_;
  const Program& program_;
  HeapArena& arena_;   // memory that the Method keeps
  HeapArena scratch_;  // memory that only loading needs
  std::span<ResolvedOperator> operators_;
  uint32_t missing_dtypes_ = 0;  // bit n: a needed kernel was not built for ScalarType n
  std::span<bool> written_;      // by value: a step writes the value
  std::span<bool> exchanged_;    // by value: a step may replace the value with another value
  std::span<bool> viewed_;       // by value: a step may make another tensor share its memory
  std::span<PlannedRange> written_ranges_;
  bool has_unknown_writes_ = false;  // a kernel does not declare its outputs
  std::span<DataBuffer*> external_slots_;
};

}  // namespace vitrine
