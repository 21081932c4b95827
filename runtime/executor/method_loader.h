// Turns an execution plan into a Method: memory, values, kernels, delegates, steps. The plan is
// verified (runtime/program/program_verifier.h): indices need no second check here.
//
// One file a job: find_operators.cc, load_values.cc, load_delegates.cc, load_steps.cc,
// find_reused_inputs.cc, refuse_overlaps.cc; the rest in method_loader.cc.
#pragma once

#include <memory>
#include <span>

#include "runtime/executor/step.h"
#include "runtime/program/program_access.h"
#include "vitrine/method.h"

namespace vitrine {

namespace fbs = schema::program;

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

 private:
  friend Error refuse_overlaps(MethodLoader& loader);
  class OverlapSearch;

  struct ResolvedOperator {
    FoundKernel found;
    const char* name = nullptr;
  };

  Error find_kernels_and_backends();
  bool has_backend(uint32_t delegate) const;
  Error name_missing();

  Error find_shared_state();
  Error take_planned_memory();
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
  Error make_step(const fbs::Instruction& from, Step& step);
  Error make_kernel_step(const fbs::KernelCall& call, Step& step);
  Error make_delegate_step(const fbs::DelegateCall& call, Step& step);
  Error set_arguments(const int32_t* indices, size_t count, Step& step);
  Error note_dtypes(const Step& step, uint32_t kernel_dtypes);
  Error name_missing_dtypes();

  Error find_reused_inputs();
  Error mark_written(int32_t value);
  Error keep_exchanged();

  Error no_memory(const char* what) const;
  // OutOfResources if the file asks for more than MethodLimits::max_load_steps.
  Error work(uint64_t steps);
  // Of bytes that are looked at or copied.
  Error work_on_bytes(uint64_t bytes);

  Method& method_;
  const MethodOptions& options_;
  const fbs::ExecutionPlan& plan_;
  const Program& program_;
  HeapArena& arena_;   // of what stays
  HeapArena scratch_;  // of what only loading needs
  std::span<ResolvedOperator> operators_;
  uint32_t missing_dtypes_ = 0;  // that kernels are given and do not take
  std::span<bool> written_;      // by value: whether a step writes it
  std::span<bool> exchanged_;    // and whether it becomes another one
  std::span<DataBuffer*> external_room_;
};

}  // namespace vitrine
