// Turns the instructions of a plan into steps that are ready to run.
#include <algorithm>
#include <bit>

#include "runtime/executor/method_loader.h"
#include "runtime/platform/vector_size.h"

namespace vitrine {
namespace {

// True if a move instruction may replace one value with the other: equal kinds, and equal dtypes
// and ranks of tensors. Executions do not check this again.
bool are_exchangeable(const EValue& a, const EValue& b) {
  if (a.tag() != b.tag()) return false;
  if (!a.is_tensor()) return true;
  const Tensor& x = a.unchecked_tensor();
  const Tensor& y = b.unchecked_tensor();
  return x.dtype() == y.dtype() && x.rank() == y.rank();
}

}  // namespace

Error MethodLoader::make_steps() {
  const uint32_t num_chains = plan_.chains()->size();
  size_t num_steps = 0;
  for (const fbs::Chain* chain : *plan_.chains()) num_steps += size_of(chain->instructions());
  method_.chains_ = arena_.allocate_array<Method::ChainSteps>(num_chains);
  method_.steps_ = arena_.allocate_array<Step>(num_steps);
  const size_t num_values = method_.values_.size();
  const std::span<bool> flags = scratch_.allocate_array<bool>(2 * num_values);
  if (method_.chains_.size() != num_chains || method_.steps_.size() != num_steps ||
      flags.size() != 2 * num_values) {
    return no_memory("instructions");
  }
  written_ = flags.first(num_values);
  exchanged_ = flags.subspan(num_values);
  uint32_t next = 0;
  for (uint32_t c = 0; c < num_chains; ++c) {
    const auto* instructions = plan_.chains()->Get(c)->instructions();
    method_.chains_[c] = {next, size_of(instructions)};
    for (uint32_t i = 0; i < size_of(instructions); ++i) {
      VITRINE_RETURN_IF_ERROR(make_step(*instructions->Get(i), method_.steps_[next++]),
                              "%s, chains[%u].instructions[%u]", plan_.name()->c_str(), c, i);
    }
  }
  VITRINE_RETURN_IF_ERROR(save_exchanged_values());
  return missing_dtypes_ == 0 ? Error() : missing_dtypes_error();
}

Error MethodLoader::save_exchanged_values() {
  const auto count = static_cast<size_t>(std::ranges::count(exchanged_, true));
  method_.restored_ = arena_.allocate_array<Method::RestoredValue>(count);
  if (method_.restored_.size() != count) return no_memory("values");
  auto next = method_.restored_.begin();
  for (size_t i = 0; i < exchanged_.size(); ++i) {
    if (!exchanged_[i]) continue;
    EValue& value = method_.values_[i];
    *next++ = {&value, value, value.is_tensor() ? value.unchecked_tensor() : Tensor()};
  }
  for (Method::Input& input : method_.inputs_) input.restored = method_.find_restored(input.value);
  return Error();
}

Error MethodLoader::make_step(const fbs::Instruction& from, Step& step) {
  switch (from.instr_args_type()) {
    case fbs::InstructionArguments::KernelCall:
      return make_kernel_step(*from.instr_args_as_KernelCall(), step);
    case fbs::InstructionArguments::DelegateCall:
      return make_delegate_step(*from.instr_args_as_DelegateCall(), step);
    case fbs::InstructionArguments::MoveCall: {
      const fbs::MoveCall& call = *from.instr_args_as_MoveCall();
      const int32_t from_and_to[] = {call.move_from(), call.move_to()};
      step.kind = TraceRecord::Kind::kMove;
      for (const int32_t value : from_and_to) exchanged_[static_cast<size_t>(value)] = true;
      VITRINE_RETURN_IF_ERROR(set_arguments(from_and_to, 2, step));
      if (are_exchangeable(*step.arguments[0], *step.arguments[1])) return Error();
      return Error::make(ErrorCode::kInvalidProgram,
                         "a move must be between values of the same kind, dtype and rank");
    }
    case fbs::InstructionArguments::JumpFalseCall: {
      const fbs::JumpFalseCall& call = *from.instr_args_as_JumpFalseCall();
      const int32_t condition = call.cond_value_index();
      step.kind = TraceRecord::Kind::kJumpFalse;
      step.destination = static_cast<uint32_t>(call.destination_instruction());
      return set_arguments(&condition, 1, step);
    }
    default:
      step.kind = TraceRecord::Kind::kFree;
      return Error();
  }
}

Error MethodLoader::make_kernel_step(const fbs::KernelCall& call, Step& step) {
  const ResolvedOperator& op = operators_[static_cast<size_t>(call.op_index())];
  const uint32_t count = size_of(call.args());
  if (count != op.found.kernel->num_arguments) {
    return Error::make(ErrorCode::kInvalidProgram, "%s needs %u arguments, got %u", op.name,
                       op.found.kernel->num_arguments, count);
  }
  step.kind = TraceRecord::Kind::kKernelCall;
  step.function = op.found.kernel->function;
  step.name = op.name;
  step.table = op.found.table;
  if (count == 0) return Error();
  const int32_t* const indices = call.args()->data();
  VITRINE_RETURN_IF_ERROR(set_arguments(indices, count, step));
  const uint32_t outputs = op.found.kernel->outputs;
  const uint32_t results = op.found.kernel->results;
  has_unknown_writes_ |= (outputs | results) == 0;
  for (uint32_t left = outputs | results; left != 0; left &= left - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(left));
    const bool is_result = (results >> i & 1u) != 0;
    if (is_result) exchanged_[static_cast<size_t>(indices[i])] = true;
    const bool is_changed = is_result && i + 1 < count;
    if (is_changed || (outputs >> i & 1u) != 0) VITRINE_RETURN_IF_ERROR(mark_written(indices[i]));
  }
  return note_dtypes(step, op.found.dtypes);
}

Error MethodLoader::make_delegate_step(const fbs::DelegateCall& call, Step& step) {
  const auto delegate = static_cast<uint32_t>(call.delegate_index());
  step.kind = TraceRecord::Kind::kDelegateCall;
  step.delegate = method_.delegates_[delegate];
  step.name = plan_.delegates()->Get(delegate)->id()->c_str();
  VITRINE_RETURN_IF_ERROR(set_scratch(call, step));
  if (call.args() == nullptr) return Error();
  VITRINE_RETURN_IF_ERROR(set_arguments(call.args()->data(), call.args()->size(), step));
  for (uint32_t i = 0; i < step.num_arguments; ++i) {
    if (!step.delegate->is_output(i)) continue;
    VITRINE_RETURN_IF_ERROR(mark_written(call.args()->Get(i)));
    const EValue& value = *step.arguments[i];
    if (value.is_tensor() && value.unchecked_tensor().is_read_only()) {
      return Error::make(
          ErrorCode::kInvalidProgram,
          "argument %u of the delegate is an output, but it is a constant of the program", i);
    }
  }
  return Error();
}

Error MethodLoader::set_scratch(const fbs::DelegateCall& call, Step& step) {
  const uint32_t count = size_of(call.scratch());
  if (count == 0) return Error();
  VITRINE_RETURN_IF_ERROR(charge_steps(count));
  const std::span<std::span<std::byte>> scratch =
      arena_.allocate_array<std::span<std::byte>>(count);
  if (scratch.size() != count) return no_memory("the scratch memory of a delegate");
  for (uint32_t i = 0; i < count; ++i) {
    const fbs::DelegateScratch& from = *call.scratch()->Get(i);
    const fbs::AllocationDetails& info = *from.allocation();
    std::byte* const buffer = method_.buffers_[info.memory_id() - 1].data;
    if (buffer != nullptr) {
      scratch[i] = {buffer + planned_offset(info), static_cast<size_t>(from.size())};
    }
  }
  step.scratch = scratch.data();
  step.num_scratch = count;
  return Error();
}

Error MethodLoader::set_arguments(const int32_t* indices, size_t count, Step& step) {
  const std::span<EValue*> arguments = arena_.allocate_array<EValue*>(count);
  if (arguments.size() != count) return no_memory("arguments");
  for (size_t i = 0; i < count; ++i) {
    arguments[i] = &method_.values_[static_cast<size_t>(indices[i])];
  }
  step.arguments = arguments.data();
  step.num_arguments = static_cast<uint32_t>(count);
  return Error();
}

Error MethodLoader::note_dtypes(const Step& step, uint32_t kernel_dtypes) {
  if (kernel_dtypes == KernelTable::kAllDtypes) return Error();
  const auto note = [&](const Tensor* tensor) {
    if (tensor != nullptr) {
      missing_dtypes_ |= 1u << static_cast<uint32_t>(tensor->dtype()) & ~kernel_dtypes;
    }
  };
  for (size_t i = 0; i < step.num_arguments; ++i) {
    const EValue& value = *step.arguments[i];
    std::span<Tensor* const> list;
    if (value.is_tensor()) note(&value.unchecked_tensor());
    if (value.is_tensor_list() && value.read_tensor_list(&list)) {
      VITRINE_RETURN_IF_ERROR(charge_steps(list.size()));
      std::ranges::for_each(list, note);
    }
  }
  return Error();
}

}  // namespace vitrine
