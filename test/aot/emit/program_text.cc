#include "test/aot/emit/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <functional>
#include <string_view>

#include "schema/program_generated.h"
#include "vitrine/scalar_type.h"

namespace vitrine::test {
namespace {

namespace fbs = schema::program;

template <class T>
std::vector<int64_t> numbers(const flatbuffers::Vector<T>* items) {
  if (items == nullptr) return {};
  return {items->begin(), items->end()};
}

class TextWriter {
 public:
  explicit TextWriter(std::span<const std::byte> pte)
      : pte_(pte), program_(*fbs::GetProgram(pte.data())) {
    if (pte.size() >= 40 && std::memcmp(pte.data() + 8, "eh00", 4) == 0) {
      std::memcpy(&base_, pte.data() + 24, sizeof base_);
    }
  }

  std::vector<std::string> write() {
    line("version {} constant_buffer {} inline {}", program_.version(),
         program_.constant_buffer() == nullptr ? -1 : int(program_.constant_buffer()->size()),
         program_.backend_delegate_data() == nullptr
             ? -1
             : int(program_.backend_delegate_data()->size()));
    for (const auto* segment : *program_.segments()) {
      line("segment {} {}", segment->offset(), segment->size());
    }
    line("constants in {}: {}", program_.constant_segment()->segment_index(),
         numbers(program_.constant_segment()->offsets()));
    if (program_.mutable_data_segments() != nullptr) {
      for (const auto* states : *program_.mutable_data_segments()) {
        line("states in {}: {}", states->segment_index(), numbers(states->offsets()));
      }
    }
    for (const auto* plan : *program_.execution_plan()) {
      // Skips constant methods, because they come from options of to_edge, not from graphs.
      if (plan->chains()->Get(0)->instructions()->size() != 0 || plan->inputs()->size() != 0) {
        write_plan(*plan);
      }
    }
    return std::move(lines_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    lines_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void write_plan(const fbs::ExecutionPlan& plan) {
    line("plan {} inputs {} outputs {} memory {}", plan.name()->str(), numbers(plan.inputs()),
         numbers(plan.outputs()), numbers(plan.non_const_buffer_sizes()));
    line("trees {} -> {}", plan.container_meta_type()->encoded_inp_str()->str(),
         plan.container_meta_type()->encoded_out_str()->str());
    for (const auto* value : *plan.values()) line("{} {}", index_++, text_of(*value));
    index_ = 0;
    const auto* instructions = plan.chains()->Get(0)->instructions();
    for (const auto* instruction : *instructions) line("{}", text_of(*instruction, plan));
    index_ = 0;
    for (const auto* delegate : *plan.delegates()) {
      line("delegate {} {} {} specs", delegate->id()->str(),
           fbs::EnumNameDataLocation(delegate->processed()->location()),
           delegate->compile_specs()->size());
    }
  }

  std::string data_of(const fbs::Tensor& tensor) const {
    const bool is_state = tensor.allocation_info() != nullptr;
    if (tensor.extra_tensor_info() != nullptr) {
      return " external " + tensor.extra_tensor_info()->fully_qualified_name()->str();
    }
    if (tensor.data_buffer_idx() == 0) return "";
    const auto* offsets =
        is_state ? program_.mutable_data_segments()->Get(0) : program_.constant_segment();
    size_t bytes = element_size(static_cast<ScalarType>(tensor.scalar_type()));
    for (const int32_t size : *tensor.sizes()) bytes *= static_cast<size_t>(size);
    const uint64_t at = base_ + program_.segments()->Get(offsets->segment_index())->offset() +
                        offsets->offsets()->Get(tensor.data_buffer_idx());
    const std::string_view content(reinterpret_cast<const char*>(pte_.data()) + at, bytes);
    return fmt::format(" data {} #{:x}", tensor.data_buffer_idx(),
                       std::hash<std::string_view>()(content));
  }

  std::string text_of(const fbs::EValue& value) const {
    using Kind = fbs::KernelTypes;
    switch (value.val_type()) {
      case Kind::Tensor: {
        const fbs::Tensor& tensor = *value.val_as_Tensor();
        const auto* allocation = tensor.allocation_info();
        // Does not compare requires_grad, because no runtime reads it, and .pt2 files do not
        // contain it.
        return fmt::format(
            "{} {} {}{}{}{}", schema::EnumNameScalarType(tensor.scalar_type()),
            numbers(tensor.sizes()), numbers(tensor.dim_order()),
            allocation == nullptr
                ? ""
                : fmt::format(" @{}:{}", allocation->memory_id(), allocation->memory_offset_low()),
            tensor.shape_dynamism() == fbs::TensorShapeDynamism::STATIC ? "" : " dynamic",
            data_of(tensor));
      }
      case Kind::Int:
        return fmt::format("int {}", value.val_as_Int()->int_val());
      case Kind::Bool:
        return fmt::format("bool {}", value.val_as_Bool()->bool_val());
      case Kind::Double:
        return fmt::format("double {}", value.val_as_Double()->double_val());
      case Kind::String:
        return fmt::format("string {}", value.val_as_String()->string_val()->str());
      case Kind::IntList:
        return fmt::format("ints {}", numbers(value.val_as_IntList()->items()));
      case Kind::DoubleList: {
        const auto* items = value.val_as_DoubleList()->items();
        return fmt::format("doubles {}", std::vector<double>(items->begin(), items->end()));
      }
      case Kind::BoolList:
        return fmt::format("bools {}", numbers(value.val_as_BoolList()->items()));
      case Kind::TensorList:
        return fmt::format("tensors {}", numbers(value.val_as_TensorList()->items()));
      case Kind::OptionalTensorList:
        return fmt::format("optionals {}", numbers(value.val_as_OptionalTensorList()->items()));
      default:
        return fbs::EnumNameKernelTypes(value.val_type());
    }
  }

  static std::string text_of(const fbs::Instruction& instruction, const fbs::ExecutionPlan& plan) {
    using Kind = fbs::InstructionArguments;
    switch (instruction.instr_args_type()) {
      case Kind::KernelCall: {
        const auto* call = instruction.instr_args_as_KernelCall();
        const auto* op = plan.operators()->Get(static_cast<uint32_t>(call->op_index()));
        return fmt::format("{}.{} {}", op->name()->str(), op->overload()->str(),
                           numbers(call->args()));
      }
      case Kind::DelegateCall: {
        const auto* call = instruction.instr_args_as_DelegateCall();
        return fmt::format("delegate {} {}", call->delegate_index(), numbers(call->args()));
      }
      case Kind::MoveCall: {
        const auto* call = instruction.instr_args_as_MoveCall();
        return fmt::format("move {} {}", call->move_from(), call->move_to());
      }
      case Kind::JumpFalseCall: {
        const auto* call = instruction.instr_args_as_JumpFalseCall();
        return fmt::format("jump {} {}", call->cond_value_index(), call->destination_instruction());
      }
      default:
        return fbs::EnumNameInstructionArguments(instruction.instr_args_type());
    }
  }

  std::span<const std::byte> pte_;
  const fbs::Program& program_;
  uint64_t base_ = 0;
  size_t index_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> program_text(std::span<const std::byte> pte) {
  return TextWriter(pte).write();
}

}  // namespace vitrine::test
