#include "runtime/program/program_verifier.h"

#include <concepts>

#include "runtime/core/checked_math.h"
#include "runtime/platform/format_version.h"
#include "runtime/platform/table_verifier.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "schema/program_generated.h"
#include "schema/program_shapes.h"
#include "vitrine/tensor.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

Error invalid(const char* what) { return Error::make(ErrorCode::kInvalidProgram, "%s", what); }

bool in_range(std::integral auto index, uint32_t count) {
  return index >= 0 && static_cast<uint64_t>(index) < count;
}

template <class Enum>
bool is_known(Enum value) {
  return value >= Enum::MIN && value <= Enum::MAX;
}

Error check_indices(const flatbuffers::Vector<int32_t>* indices, uint32_t count, const char* field,
                    Budget& steps) {
  if (!steps.take(size_of(indices))) return too_many_items(steps);
  for (uint32_t i = 0; i < size_of(indices); ++i) {
    if (!in_range(indices->Get(i), count)) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "%s[%u]: value %d does not exist; there are %u values", field, i,
                         indices->Get(i), count);
    }
  }
  return Error();
}

class ProgramVerifier {
 public:
  ProgramVerifier(const fbs::Program& program, uint64_t segment_bytes, Budget& steps)
      : program_(program), segment_bytes_(segment_bytes), steps_(steps) {}

  Error verify() const {
    VITRINE_RETURN_IF_ERROR(
        check_version("program", program_.version(), ErrorCode::kInvalidProgram));
    if (size_of(program_.execution_plan()) == 0) return invalid("execution_plan: no methods");
    VITRINE_RETURN_IF_ERROR(verify_segments());
    VITRINE_RETURN_IF_ERROR(verify_offsets(program_.constant_segment()), "constant_segment");
    for (uint32_t i = 0; i < size_of(program_.mutable_data_segments()); ++i) {
      VITRINE_RETURN_IF_ERROR(verify_offsets(program_.mutable_data_segments()->Get(i)),
                              "mutable_data_segments[%u]", i);
    }
    if (has_constant_segment() && size_of(program_.constant_buffer()) > 0) {
      return invalid("constant_segment and constant_buffer must not both be present");
    }
    for (uint32_t i = 0; i < size_of(program_.named_data()); ++i) {
      const fbs::NamedData* entry = program_.named_data()->Get(i);
      if (entry->key() == nullptr) {
        return invalid("key: is missing").in("named_data[%u]", i);
      }
      if (!in_range(entry->segment_index(), size_of(program_.segments()))) {
        return invalid("segment_index: no such segment").in("named_data[%u]", i);
      }
    }
    for (uint32_t i = 0; i < program_.execution_plan()->size(); ++i) {
      VITRINE_RETURN_IF_ERROR(verify_plan(*program_.execution_plan()->Get(i)), "execution_plan[%u]",
                              i);
    }
    return Error();
  }

 private:
  Error verify_segments() const {
    for (uint32_t i = 0; i < size_of(program_.segments()); ++i) {
      const fbs::DataSegment* segment = program_.segments()->Get(i);
      if (!range_fits(segment->offset(), segment->size(), segment_bytes_)) {
        return Error::make(ErrorCode::kInvalidProgram,
                           "segments[%u]: %llu bytes at %llu, but the file has %llu bytes of "
                           "segments (truncated?)",
                           i, static_cast<unsigned long long>(segment->size()),
                           static_cast<unsigned long long>(segment->offset()),
                           static_cast<unsigned long long>(segment_bytes_));
      }
    }
    return Error();
  }

  Error verify_offsets(const fbs::SubsegmentOffsets* table) const {
    if (table == nullptr) return Error();
    if (size_of(table->offsets()) <= 1) return Error();
    if (!steps_.take(size_of(table->offsets()))) return too_many_items(steps_);
    if (!in_range(table->segment_index(), size_of(program_.segments()))) {
      return invalid("segment_index: no such segment");
    }
    const uint64_t limit = program_.segments()->Get(table->segment_index())->size();
    for (uint32_t i = 0; i < table->offsets()->size(); ++i) {
      if (table->offsets()->Get(i) > limit) {
        return Error::make(ErrorCode::kInvalidProgram, "offsets[%u]: outside its segment", i);
      }
    }
    return Error();
  }

  bool has_constant_segment() const {
    return program_.constant_segment() != nullptr &&
           size_of(program_.constant_segment()->offsets()) > 0;
  }

  Error verify_plan(const fbs::ExecutionPlan& plan) const {
    if (plan.name() == nullptr) return invalid("name: is missing");
    if (plan.values() == nullptr) return invalid("values: is missing");
    if (size_of(plan.chains()) == 0) return invalid("chains: is missing");
    if (!steps_.take(size_of(plan.non_const_buffer_sizes()))) return too_many_items(steps_);
    for (uint32_t i = 0; i < size_of(plan.non_const_buffer_sizes()); ++i) {
      if (plan.non_const_buffer_sizes()->Get(i) < 0) {
        return Error::make(ErrorCode::kInvalidProgram, "non_const_buffer_sizes[%u]: is negative",
                           i);
      }
      if (static_cast<uint64_t>(plan.non_const_buffer_sizes()->Get(i)) > kMaxBytes) {
        return Error::make(ErrorCode::kInvalidProgram,
                           "non_const_buffer_sizes[%u] cannot be addressed", i);
      }
    }
    for (uint32_t i = 0; i < size_of(plan.non_const_buffer_device()); ++i) {
      if (plan.non_const_buffer_device()->Get(i)->device_type() != fbs::DeviceType::CPU) {
        return Error::make(ErrorCode::kNotSupported,
                           "non_const_buffer_device[%u]: only CPU memory is supported", i);
      }
    }
    for (uint32_t i = 0; i < plan.values()->size(); ++i) {
      VITRINE_RETURN_IF_ERROR(verify_value(plan, *plan.values()->Get(i)), "values[%u]", i);
    }
    const uint32_t count = plan.values()->size();
    VITRINE_RETURN_IF_ERROR(check_indices(plan.inputs(), count, "inputs", steps_));
    VITRINE_RETURN_IF_ERROR(check_indices(plan.outputs(), count, "outputs", steps_));
    for (uint32_t i = 0; i < size_of(plan.operators()); ++i) {
      if (plan.operators()->Get(i)->name() == nullptr) {
        return Error::make(ErrorCode::kInvalidProgram, "operators[%u].name: is missing", i);
      }
    }
    for (uint32_t i = 0; i < size_of(plan.delegates()); ++i) {
      VITRINE_RETURN_IF_ERROR(verify_delegate(*plan.delegates()->Get(i)), "delegates[%u]", i);
    }
    for (uint32_t i = 0; i < plan.chains()->size(); ++i) {
      VITRINE_RETURN_IF_ERROR(verify_chain(plan, *plan.chains()->Get(i)), "chains[%u]", i);
    }
    return Error();
  }

  Error verify_value(const fbs::ExecutionPlan& plan, const fbs::EValue& value) const {
    if (!is_known(value.val_type()) || value.val_type() == fbs::KernelTypes::NONE ||
        value.val() == nullptr) {
      return Error::make(ErrorCode::kInvalidProgram, "val: missing or of unknown kind %d",
                         static_cast<int>(value.val_type()));
    }
    const uint32_t count = plan.values()->size();
    switch (value.val_type()) {
      case fbs::KernelTypes::Tensor:
        return verify_tensor(plan, *value.val_as_Tensor());
      case fbs::KernelTypes::String:
        return value.val_as_String()->string_val() != nullptr ? Error()
                                                              : invalid("string_val: is missing");
      case fbs::KernelTypes::DoubleList:
        return value.val_as_DoubleList()->items() != nullptr ? Error()
                                                             : invalid("items: is missing");
      case fbs::KernelTypes::BoolList:  // charged, because loading copies it
        if (value.val_as_BoolList()->items() == nullptr) return invalid("items: is missing");
        return steps_.take(value.val_as_BoolList()->items()->size()) ? Error()
                                                                     : too_many_items(steps_);
      case fbs::KernelTypes::IntList: {
        const auto* items = value.val_as_IntList()->items();
        if (items == nullptr) return invalid("items: is missing");
        if (!steps_.take(items->size())) return too_many_items(steps_);
        for (uint32_t i = 0; i < items->size(); ++i) {
          if (!in_range(items->Get(i), count) ||
              plan.values()->Get(static_cast<uint32_t>(items->Get(i)))->val_type() !=
                  fbs::KernelTypes::Int) {
            return Error::make(ErrorCode::kInvalidProgram, "items[%u]: is not an Int value", i);
          }
        }
        return Error();
      }
      case fbs::KernelTypes::TensorList:
        return verify_tensor_list(plan, value.val_as_TensorList()->items(), false);
      case fbs::KernelTypes::OptionalTensorList:
        return verify_tensor_list(plan, value.val_as_OptionalTensorList()->items(), true);
      default:
        return Error();
    }
  }

  Error verify_tensor_list(const fbs::ExecutionPlan& plan,
                           const flatbuffers::Vector<int32_t>* items, bool optional) const {
    if (items == nullptr) return invalid("items: is missing");
    if (!steps_.take(items->size())) return too_many_items(steps_);
    for (uint32_t i = 0; i < items->size(); ++i) {
      const int32_t index = items->Get(i);
      if (optional && index == -1) continue;
      const fbs::KernelTypes kind =
          in_range(index, plan.values()->size())
              ? plan.values()->Get(static_cast<uint32_t>(index))->val_type()
              : fbs::KernelTypes::NONE;
      if (kind == fbs::KernelTypes::Tensor) continue;
      if (optional && kind == fbs::KernelTypes::Null) continue;
      return Error::make(ErrorCode::kInvalidProgram, "items[%u]: is not a Tensor value", i);
    }
    return Error();
  }

  Error verify_tensor(const fbs::ExecutionPlan& plan, const fbs::Tensor& tensor) const {
    if (tensor.storage_offset() != 0) {
      return Error::make(ErrorCode::kNotSupported, "storage_offset: must be 0");
    }
    if (tensor.shape_dynamism() == fbs::TensorShapeDynamism::DYNAMIC_UNBOUND) {
      return Error::make(ErrorCode::kNotSupported, "shape_dynamism: DYNAMIC_UNBOUND");
    }
    if (!is_known(tensor.shape_dynamism())) {
      return invalid("shape_dynamism: is unknown");
    }
    if (tensor.layout() != 0) return Error::make(ErrorCode::kNotSupported, "layout: not strided");
    const auto dtype = static_cast<ScalarType>(tensor.scalar_type());
    if (!is_valid(dtype)) return invalid("scalar_type: is unknown");
    if (tensor.sizes() == nullptr) return invalid("sizes: is missing");
    if (tensor.dim_order() == nullptr) return invalid("dim_order: is missing");
    const uint32_t rank = tensor.sizes()->size();
    if (rank > kMaxRank) {
      return Error::make(ErrorCode::kNotSupported, "sizes: rank %u is above %zu", rank, kMaxRank);
    }
    if (tensor.dim_order()->size() != rank || !is_permutation({tensor.dim_order()->data(), rank})) {
      return invalid("dim_order: is not a permutation of the dimensions");
    }
    Result<int64_t> numel = checked_numel({tensor.sizes()->data(), rank});
    if (!numel.ok()) {
      return Error::make(ErrorCode::kInvalidProgram, "sizes: %s", numel.error().message());
    }
    return verify_memory(plan, tensor, dtype, static_cast<uint64_t>(*numel) * element_size(dtype));
  }

  Error verify_memory(const fbs::ExecutionPlan& plan, const fbs::Tensor& tensor, ScalarType dtype,
                      uint64_t nbytes) const {
    const fbs::ExtraTensorInfo* extra = tensor.extra_tensor_info();
    if (extra != nullptr && !is_known(extra->location())) {
      return invalid("extra_tensor_info.location: is unknown");
    }
    const bool external =
        extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL;
    if (extra != nullptr && extra->device_type() != fbs::DeviceType::CPU) {
      return Error::make(ErrorCode::kNotSupported, "device_type: only CPU tensors are supported");
    }
    if (external && extra->fully_qualified_name() == nullptr) {
      return Error::make(ErrorCode::kInvalidExternalData,
                         "fully_qualified_name: is missing on an external tensor");
    }
    if (tensor.allocation_info() != nullptr) {
      VITRINE_RETURN_IF_ERROR(verify_allocation(plan, *tensor.allocation_info(), nbytes, dtype));
    }
    if (external || tensor.data_buffer_idx() == 0) return Error();
    if (tensor.allocation_info() == nullptr)
      return verify_constant(tensor.data_buffer_idx(), nbytes);
    if (size_of(program_.mutable_data_segments()) == 0) {
      return invalid("data_buffer_idx: the program has no mutable_data_segments");
    }
    return verify_range(*program_.mutable_data_segments()->Get(0), tensor.data_buffer_idx(),
                        nbytes);
  }

  static Error verify_allocation(const fbs::ExecutionPlan& plan, const fbs::AllocationDetails& info,
                                 uint64_t nbytes, ScalarType dtype) {
    const uint32_t buffers = size_of(plan.non_const_buffer_sizes());
    if (info.memory_id() == 0 || info.memory_id() >= buffers) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "allocation_info.memory_id: must be at least 1 and less than %u, got %u",
                         buffers, info.memory_id());
    }
    const uint64_t offset = planned_offset(info);
    const auto size = static_cast<uint64_t>(plan.non_const_buffer_sizes()->Get(info.memory_id()));
    if (!range_fits(offset, nbytes, size)) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "allocation_info: %llu bytes at %llu exceed buffer %u of %llu bytes",
                         static_cast<unsigned long long>(nbytes),
                         static_cast<unsigned long long>(offset), info.memory_id(),
                         static_cast<unsigned long long>(size));
    }
    // Buffers are aligned for every dtype, so an aligned offset suffices.
    const size_t alignment = element_size(dtype) < 16 ? element_size(dtype) : 8;
    if (offset % alignment != 0) return invalid("allocation_info: the offset is not aligned");
    return Error();
  }

  static Error verify_scratch(const fbs::ExecutionPlan& plan, const fbs::DelegateCall& call) {
    for (uint32_t i = 0; i < size_of(call.scratch()); ++i) {
      const fbs::DelegateScratch& scratch = *call.scratch()->Get(i);
      if (scratch.allocation() == nullptr) {
        return Error::make(ErrorCode::kInvalidProgram, "scratch[%u].allocation: is missing", i);
      }
      VITRINE_RETURN_IF_ERROR(
          verify_allocation(plan, *scratch.allocation(), scratch.size(), ScalarType::kByte),
          "scratch[%u]", i);
    }
    return Error();
  }

  Error verify_constant(uint32_t index, uint64_t nbytes) const {
    if (has_constant_segment()) return verify_range(*program_.constant_segment(), index, nbytes);
    if (!in_range(index, size_of(program_.constant_buffer()))) {
      return invalid("data_buffer_idx: no such constant");
    }
    if (size_of(program_.constant_buffer()->Get(index)->storage()) < nbytes) {
      return invalid("data_buffer_idx: the constant has fewer bytes than the tensor");
    }
    return Error();
  }

  Error verify_range(const fbs::SubsegmentOffsets& table, uint32_t index, uint64_t nbytes) const {
    if (!in_range(index, size_of(table.offsets()))) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "data_buffer_idx: index %u is out of range; there are %u offsets", index,
                         size_of(table.offsets()));
    }
    const uint64_t limit = program_.segments()->Get(table.segment_index())->size();
    if (!range_fits(table.offsets()->Get(index), nbytes, limit)) {
      return invalid("data_buffer_idx: the tensor's data exceeds its segment");
    }
    return Error();
  }

  Error verify_delegate(const fbs::BackendDelegate& delegate) const {
    if (delegate.id() == nullptr) return invalid("id: is missing");
    const fbs::BackendDelegateDataReference* processed = delegate.processed();
    if (processed == nullptr) return invalid("processed: is missing");
    if (!is_known(processed->location())) return invalid("processed.location: is unknown");
    const bool in_segment = processed->location() == fbs::DataLocation::SEGMENT;
    const uint32_t count =
        in_segment ? size_of(program_.segments()) : size_of(program_.backend_delegate_data());
    if (!in_range(processed->index(), count)) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "processed: %s %u does not exist; there are %u",
                         in_segment ? "segment" : "inline data", processed->index(), count);
    }
    for (uint32_t i = 0; i < size_of(delegate.compile_specs()); ++i) {
      if (delegate.compile_specs()->Get(i)->key() == nullptr) {
        return Error::make(ErrorCode::kInvalidProgram, "compile_specs[%u].key: is missing", i);
      }
    }
    return Error();
  }

  Error verify_chain(const fbs::ExecutionPlan& plan, const fbs::Chain& chain) const {
    for (uint32_t i = 0; i < size_of(chain.instructions()); ++i) {
      VITRINE_RETURN_IF_ERROR(
          verify_instruction(plan, *chain.instructions()->Get(i), chain.instructions()->size()),
          "instructions[%u]", i);
    }
    return Error();
  }

  Error verify_instruction(const fbs::ExecutionPlan& plan, const fbs::Instruction& instruction,
                           uint32_t num_instructions) const {
    const uint32_t count = plan.values()->size();
    if (instruction.instr_args() == nullptr) return invalid("instr_args: is missing");
    switch (instruction.instr_args_type()) {
      case fbs::InstructionArguments::KernelCall: {
        const auto& call = *instruction.instr_args_as_KernelCall();
        if (!in_range(call.op_index(), size_of(plan.operators()))) {
          return invalid("op_index: no such operator");
        }
        return check_indices(call.args(), count, "args", steps_);
      }
      case fbs::InstructionArguments::DelegateCall: {
        const auto& call = *instruction.instr_args_as_DelegateCall();
        if (!in_range(call.delegate_index(), size_of(plan.delegates()))) {
          return invalid("delegate_index: no such delegate");
        }
        VITRINE_RETURN_IF_ERROR(verify_scratch(plan, call));
        return check_indices(call.args(), count, "args", steps_);
      }
      case fbs::InstructionArguments::MoveCall: {
        const auto& call = *instruction.instr_args_as_MoveCall();
        return in_range(call.move_from(), count) && in_range(call.move_to(), count)
                   ? Error()
                   : invalid("move_from or move_to: no such value");
      }
      case fbs::InstructionArguments::JumpFalseCall: {
        const auto& call = *instruction.instr_args_as_JumpFalseCall();
        if (!in_range(call.cond_value_index(), count)) {
          return invalid("cond_value_index: no such value");
        }
        // A jump to the position after the last instruction ends the chain.
        return in_range(call.destination_instruction(), num_instructions + 1)
                   ? Error()
                   : invalid("destination_instruction: outside the chain");
      }
      case fbs::InstructionArguments::FreeCall:
        return in_range(instruction.instr_args_as_FreeCall()->value_index(), count)
                   ? Error()
                   : invalid("value_index: no such value");
      default:
        return Error::make(ErrorCode::kInvalidProgram, "instr_args: unknown kind %d",
                           static_cast<int>(instruction.instr_args_type()));
    }
  }

  const fbs::Program& program_;
  uint64_t segment_bytes_;
  Budget& steps_;
};

}  // namespace

Error verify_program(std::span<const std::byte> flatbuffer, uint64_t segment_bytes, Budget& steps) {
  if (!fbs::ProgramBufferHasIdentifier(flatbuffer.data()) ||
      !verify_tables(flatbuffer, fbs::kTableShapes, steps)) {
    if (steps.left() == 0) return too_many_items(steps);
    return invalid(
        "the flatbuffer is damaged: an offset is outside it or misaligned "
        "(truncated?)");
  }
  return ProgramVerifier(*fbs::GetProgram(flatbuffer.data()), segment_bytes, steps).verify();
}

}  // namespace vitrine
