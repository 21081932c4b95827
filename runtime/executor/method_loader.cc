// Turns an execution plan into a Method: memory, values, kernels, delegates, steps. The plan is
// verified (runtime/program/program_verifier.h): indices need no second check here.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "runtime/core/checked_math.h"
#include "runtime/data/vector_size.h"
#include "runtime/executor/step.h"
#include "runtime/platform/clock.h"
#include "vitrine/method.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

constexpr size_t kPlannedAlignment = 64;
// Past the last buffer: vector code may load a whole register there.
constexpr size_t kPlannedSlack = 128;

Error no_memory(const char* what) {
  return Error::make(ErrorCode::kMemoryAllocationFailed,
                     "no memory for %s within MethodOptions::max_metadata_bytes", what);
}

// "aten::add" and "out" give "aten::add.out".
Result<const char*> join_name(const fbs::Operator& op, MemoryAllocator& arena) {
  const std::string_view name = op.name()->string_view();
  const std::string_view overload =
      op.overload() != nullptr ? op.overload()->string_view() : std::string_view();
  const std::span<char> text = arena.allocate_array<char>(name.size() + overload.size() + 2);
  if (text.empty()) return no_memory("operator names");
  char* end = std::copy(name.begin(), name.end(), text.data());
  if (!overload.empty()) {
    *end++ = '.';
    end = std::copy(overload.begin(), overload.end(), end);
  }
  *end = '\0';
  return static_cast<const char*>(text.data());
}

// "a, b, c", each once; in the arena.
class NameList {
 public:
  // `size`: of all names that may be added, and 2 a name. Without memory the list has no names, but
  // is not empty.
  NameList(MemoryAllocator& arena, size_t size) : text_(arena.allocate_array<char>(size + 1)) {}

  void add(std::string_view name) {
    is_empty_ = false;
    if (text_.empty() || has(name)) return;
    if (size_ != 0) append(", ");
    append(name);
  }
  bool empty() const { return is_empty_; }
  const char* text() const { return text_.empty() ? "" : text_.data(); }

 private:
  void append(std::string_view part) { size_ += part.copy(text_.data() + size_, part.size()); }
  bool has(std::string_view name) const {
    std::string_view rest(text_.data(), size_);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(", "), rest.size());
      if (rest.substr(0, end) == name) return true;
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return false;
  }

  std::span<char> text_;  // zero behind what is written
  size_t size_ = 0;
  bool is_empty_ = true;
};

}  // namespace

class MethodLoader {
 public:
  MethodLoader(Method& method, const MethodOptions& options)
      : method_(method),
        options_(options),
        plan_(method.meta_.plan()),
        program_(*method.program_),
        arena_(method.arena_) {}

  Error load() {
    VITRINE_RETURN_IF_ERROR(find_kernels_and_backends());
    VITRINE_RETURN_IF_ERROR(take_planned_memory());
    VITRINE_RETURN_IF_ERROR(make_values());
    VITRINE_RETURN_IF_ERROR(make_inputs_and_outputs());
    VITRINE_RETURN_IF_ERROR(load_delegates());
    return make_steps();
  }

 private:
  struct ResolvedOperator {
    FoundKernel found;
    const char* name = nullptr;
  };

  Error find_kernels_and_backends() {
    operators_ = arena_.allocate_array<ResolvedOperator>(size_of(plan_.operators()));
    if (operators_.size() != size_of(plan_.operators())) return no_memory("operators");
    size_t missing_bytes = 0;
    for (uint32_t i = 0; i < operators_.size(); ++i) {
      ResolvedOperator& op = operators_[i];
      VITRINE_ASSIGN_OR_RETURN(op.name, join_name(*plan_.operators()->Get(i), arena_));
      if (options_.kernels != nullptr) op.found = options_.kernels->find(op.name);
      if (op.found.kernel == nullptr) missing_bytes += std::strlen(op.name) + 2;
      common_dtypes_ &= op.found.dtypes;
    }
    for (uint32_t i = 0; i < size_of(plan_.delegates()); ++i) {
      if (!has_backend(i)) missing_bytes += backend_id(i).size() + 2;
    }
    return missing_bytes == 0 ? Error() : name_missing(missing_bytes);
  }

  std::string_view backend_id(uint32_t delegate) const {
    return plan_.delegates()->Get(delegate)->id()->string_view();
  }
  bool has_backend(uint32_t delegate) const {
    return options_.backends != nullptr && options_.backends->find(backend_id(delegate)) != nullptr;
  }

  Error name_missing(size_t bytes) {
    NameList operators(arena_, bytes);
    for (const ResolvedOperator& op : operators_) {
      if (op.found.kernel == nullptr) operators.add(op.name);
    }
    NameList backends(arena_, bytes);
    for (uint32_t i = 0; i < size_of(plan_.delegates()); ++i) {
      if (!has_backend(i)) backends.add(backend_id(i));
    }
    return Error::make(operators.empty() ? ErrorCode::kNotFound : ErrorCode::kOperatorMissing,
                       "%s: this build lacks%s%s%s%s%s: register them, or link what has them",
                       plan_.name()->c_str(), operators.empty() ? "" : " the operators ",
                       operators.text(), !operators.empty() && !backends.empty() ? " and" : "",
                       backends.empty() ? "" : " the backends ", backends.text());
  }

  Error take_planned_memory() {
    const size_t count = method_.meta_.num_planned_buffers();
    planned_ = arena_.allocate_array<std::byte*>(count);
    if (planned_.size() != count) return no_memory("planned buffers");
    if (!options_.planned_memory.empty()) return check_planned_memory();
    // Half of the address space leaves room to round up.
    const uint64_t limit = std::min<uint64_t>(options_.max_planned_bytes, SIZE_MAX / 2);
    uint64_t total = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t size = method_.meta_.planned_buffer_size(i);
      if (add_overflows(total, size, &total) || total > limit) {
        return Error::make(ErrorCode::kMemoryAllocationFailed,
                           "the program asks for more than %llu bytes of planned memory "
                           "(MethodOptions::max_planned_bytes)",
                           static_cast<unsigned long long>(limit));
      }
      total = round_up(total, kPlannedAlignment);
    }
    if (total == 0) return Error();
    // calloc: large blocks come zeroed from the system, untouched.
    method_.planned_.reset(static_cast<std::byte*>(
        std::calloc(1, static_cast<size_t>(total) + kPlannedAlignment + kPlannedSlack)));
    if (!method_.planned_) {
      return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for %llu planned bytes",
                         static_cast<unsigned long long>(total));
    }
    auto* next = reinterpret_cast<std::byte*>(
        round_up(reinterpret_cast<uintptr_t>(method_.planned_.get()), kPlannedAlignment));
    for (size_t i = 0; i < count; ++i) {
      planned_[i] = next;
      next += round_up(method_.meta_.planned_buffer_size(i), kPlannedAlignment);
    }
    return Error();
  }

  Error check_planned_memory() {
    if (options_.planned_memory.size() != planned_.size()) {
      return Error::make(ErrorCode::kInvalidArgument, "planned_memory has %zu buffers, not %zu",
                         options_.planned_memory.size(), planned_.size());
    }
    for (size_t i = 0; i < planned_.size(); ++i) {
      const std::span<std::byte> given = options_.planned_memory[i];
      if (given.size() < method_.meta_.planned_buffer_size(i) ||
          reinterpret_cast<uintptr_t>(given.data()) % 16 != 0) {
        return Error::make(ErrorCode::kMemoryAllocationFailed,
                           "planned_memory[%zu] must have %zu bytes, 16-byte aligned; it has %zu",
                           i, method_.meta_.planned_buffer_size(i), given.size());
      }
      planned_[i] = given.data();
    }
    return Error();
  }

  Error make_values() {
    const uint32_t count = plan_.values()->size();
    method_.values_ = arena_.allocate_array<EValue>(count);
    if (method_.values_.size() != count) return no_memory("values");
    for (uint32_t i = 0; i < count; ++i) {
      VITRINE_RETURN_IF_ERROR(make_value(*plan_.values()->Get(i), method_.values_[i])
                                  .in("%s, values[%u]", plan_.name()->c_str(), i));
    }
    return Error();
  }

  Error make_value(const fbs::EValue& from, EValue& to) {
    switch (from.val_type()) {
      case fbs::KernelTypes::Int:
        to = EValue(from.val_as_Int()->int_val());
        return Error();
      case fbs::KernelTypes::Bool:
        to = EValue(from.val_as_Bool()->bool_val());
        return Error();
      case fbs::KernelTypes::Double:
        to = EValue(from.val_as_Double()->double_val());
        return Error();
      case fbs::KernelTypes::String:
        to = EValue(from.val_as_String()->string_val()->string_view());
        return Error();
      case fbs::KernelTypes::DoubleList: {
        const auto* items = from.val_as_DoubleList()->items();
        to = EValue(std::span<const double>(items->data(), items->size()));
        return Error();
      }
      case fbs::KernelTypes::BoolList:
        return make_bool_list(*from.val_as_BoolList()->items(), to);
      case fbs::KernelTypes::IntList:
        return make_int_list(*from.val_as_IntList()->items(), to);
      case fbs::KernelTypes::TensorList:
        return make_tensor_list(*from.val_as_TensorList()->items(), false, to);
      case fbs::KernelTypes::OptionalTensorList:
        return make_tensor_list(*from.val_as_OptionalTensorList()->items(), true, to);
      case fbs::KernelTypes::Tensor:
        return make_tensor(*from.val_as_Tensor(), to);
      default:
        to = EValue();
        return Error();
    }
  }

  // Copied: a byte other than 0 and 1 in the file would not be a bool.
  Error make_bool_list(const flatbuffers::Vector<uint8_t>& items, EValue& to) {
    const std::span<bool> list = arena_.allocate_array<bool>(items.size());
    if (list.size() != items.size()) return no_memory("a bool list");
    for (uint32_t i = 0; i < items.size(); ++i) list[i] = items.Get(i) != 0;
    to = EValue(std::span<const bool>(list));
    return Error();
  }

  Error make_int_list(const flatbuffers::Vector<int64_t>& items, EValue& to) {
    const std::span<EValue*> values = arena_.allocate_array<EValue*>(items.size());
    const std::span<int64_t> scratch = arena_.allocate_array<int64_t>(items.size());
    const std::span<IntListBody> body = arena_.allocate_array<IntListBody>(1);
    if (values.size() != items.size() || scratch.size() != items.size() || body.empty()) {
      return no_memory("an int list");
    }
    for (uint32_t i = 0; i < items.size(); ++i) {
      values[i] = &method_.values_[static_cast<size_t>(items.Get(i))];
    }
    body[0] = {values, scratch.data()};
    to = EValue(body.data());
    return Error();
  }

  Error make_tensor_list(const flatbuffers::Vector<int32_t>& items, bool optional, EValue& to) {
    const std::span<EValue*> values = arena_.allocate_array<EValue*>(items.size());
    const std::span<Tensor*> scratch = arena_.allocate_array<Tensor*>(items.size());
    const std::span<TensorListBody> body = arena_.allocate_array<TensorListBody>(1);
    if (values.size() != items.size() || scratch.size() != items.size() || body.empty()) {
      return no_memory("a tensor list");
    }
    for (uint32_t i = 0; i < items.size(); ++i) {
      values[i] = items.Get(i) < 0 ? nullptr : &method_.values_[static_cast<size_t>(items.Get(i))];
    }
    body[0] = {values, scratch.data()};
    to = EValue(body.data(), optional);
    return Error();
  }

  Error make_tensor(const fbs::Tensor& from, EValue& to) {
    const uint32_t rank = from.sizes()->size();
    const std::span<int32_t> sizes = arena_.allocate_array<int32_t>(rank);
    const std::span<int64_t> strides = arena_.allocate_array<int64_t>(rank);
    const std::span<Tensor> tensor = arena_.allocate_array<Tensor>(1);
    if (sizes.size() != rank || strides.size() != rank || tensor.empty()) {
      return no_memory("a tensor");
    }
    std::copy(from.sizes()->begin(), from.sizes()->end(), sizes.begin());
    tensor[0] = Tensor(static_cast<ScalarType>(from.scalar_type()), sizes,
                       {from.dim_order()->data(), rank}, strides, nullptr,
                       from.shape_dynamism() == fbs::TensorShapeDynamism::STATIC
                           ? ShapeDynamism::kStatic
                           : ShapeDynamism::kDynamicBound);
    to = EValue(tensor.data());
    return find_data(from, tensor[0]);
  }

  // Where a tensor's memory is: planned, in the program, in external data, or given later.
  Error find_data(const fbs::Tensor& from, Tensor& tensor) {
    if (const fbs::AllocationDetails* info = from.allocation_info()) {
      const uint64_t offset =
          info->memory_offset_low() | static_cast<uint64_t>(info->memory_offset_high()) << 32;
      std::byte* buffer = planned_[info->memory_id() - 1];
      if (buffer != nullptr) tensor.set_data(buffer + offset);
    }
    const fbs::ExtraTensorInfo* extra = from.extra_tensor_info();
    if (extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL) {
      return find_external_data(*extra, from.allocation_info() != nullptr, tensor);
    }
    const uint32_t index = from.data_buffer_idx();
    if (index == 0) return Error();
    if (from.allocation_info() != nullptr) {
      VITRINE_ASSIGN_OR_RETURN(const DataBuffer initial,
                               program_.mutable_data(index, tensor.nbytes()));
      return copy_initial(initial.bytes(), tensor);
    }
    VITRINE_ASSIGN_OR_RETURN(const auto bytes, program_.constant_data(index, tensor.nbytes()));
    return set_constant(bytes, tensor);
  }

  static Error copy_initial(std::span<const std::byte> bytes, Tensor& tensor) {
    if (tensor.nbytes() != 0) {
      std::memcpy(tensor.mutable_raw_data(), bytes.data(), tensor.nbytes());
    }
    return Error();
  }

  Error set_constant(std::span<const std::byte> bytes, Tensor& tensor) {
    const std::byte* data = bytes.data();
    const size_t alignment = std::min<size_t>(tensor.element_size(), 8);
    if (tensor.nbytes() != 0 && reinterpret_cast<uintptr_t>(data) % alignment != 0) {
      // A file may place a constant anywhere; kernels may not read it there.
      void* copy = arena_.allocate(tensor.nbytes(), 16);
      if (copy == nullptr) return no_memory("a misaligned constant");
      std::memcpy(copy, data, tensor.nbytes());
      data = static_cast<const std::byte*>(copy);
    }
    tensor.set_data(const_cast<std::byte*>(data));
    tensor.set_read_only();
    return Error();
  }

  Error find_external_data(const fbs::ExtraTensorInfo& extra, bool is_mutable, Tensor& tensor) {
    const std::string_view key = extra.fully_qualified_name()->string_view();
    if (options_.external_data == nullptr) {
      return Error::make(ErrorCode::kInvalidExternalData,
                         "the weight %.*s is kept outside the program: give its .ptd file",
                         static_cast<int>(key.size()), key.data());
    }
    VITRINE_ASSIGN_OR_RETURN(const auto layout, options_.external_data->layout(key));
    const auto equal = [](auto a, auto b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    if (!layout || layout->dtype != tensor.dtype() || !equal(layout->sizes, tensor.sizes()) ||
        !equal(layout->dim_order, tensor.dim_order())) {
      return Error::make(ErrorCode::kInvalidExternalData,
                         "the external weight %.*s has another dtype, shape or dim order than the "
                         "program expects",
                         static_cast<int>(key.size()), key.data());
    }
    VITRINE_ASSIGN_OR_RETURN(DataBuffer data, options_.external_data->get(key));
    if (data.size() < tensor.nbytes()) {
      return Error::make(ErrorCode::kInvalidExternalData, "the external weight %.*s is too short",
                         static_cast<int>(key.size()), key.data());
    }
    if (is_mutable) return copy_initial(data.bytes(), tensor);
    if (method_.external_.empty()) {
      // As many as there are values at most.
      external_room_ = arena_.allocate_array<DataBuffer*>(plan_.values()->size());
      if (external_room_.empty()) return no_memory("external data");
    }
    auto* kept = new (std::nothrow) DataBuffer(std::move(data));
    if (kept == nullptr) return no_memory("external data");
    external_room_[method_.external_.size()] = kept;
    method_.external_ = external_room_.first(method_.external_.size() + 1);
    return set_constant(kept->bytes(), tensor);
  }

  Error make_inputs_and_outputs() {
    const size_t num_inputs = size_of(plan_.inputs());
    const size_t num_outputs = size_of(plan_.outputs());
    method_.inputs_ = arena_.allocate_array<EValue*>(num_inputs);
    method_.outputs_ = arena_.allocate_array<EValue*>(num_outputs);
    method_.input_is_set_ = arena_.allocate_array<bool>(num_inputs);
    method_.input_is_planned_ = arena_.allocate_array<bool>(num_inputs);
    if (method_.inputs_.size() != num_inputs || method_.outputs_.size() != num_outputs ||
        method_.input_is_set_.size() != num_inputs ||
        method_.input_is_planned_.size() != num_inputs) {
      return no_memory("inputs and outputs");
    }
    for (uint32_t i = 0; i < num_inputs; ++i) {
      EValue& value = method_.values_[static_cast<size_t>(plan_.inputs()->Get(i))];
      method_.inputs_[i] = &value;
      // What is no tensor has the only value that it may have.
      method_.input_is_set_[i] = !value.is_tensor();
      method_.input_is_planned_[i] =
          value.is_tensor() && method_.meta_.input_tensor(i).is_memory_planned;
      if (value.is_tensor() && value.tensor().is_read_only()) {
        return Error::make(ErrorCode::kInvalidProgram, "%s, inputs[%u]: is a constant",
                           plan_.name()->c_str(), i);
      }
    }
    for (uint32_t i = 0; i < num_outputs; ++i) {
      method_.outputs_[i] = &method_.values_[static_cast<size_t>(plan_.outputs()->Get(i))];
    }
    return Error();
  }

  Error load_delegates() {
    const uint32_t count = size_of(plan_.delegates());
    const std::span<Delegate*> delegates = arena_.allocate_array<Delegate*>(count);
    if (delegates.size() != count) return no_memory("delegates");
    for (uint32_t i = 0; i < count; ++i) {
      const fbs::BackendDelegate& delegate = *plan_.delegates()->Get(i);
      Result<std::unique_ptr<Delegate>> loaded = load_delegate(delegate, i);
      if (!loaded.ok()) {
        return loaded.take_error().in("%s, delegates[%u] (%s)", plan_.name()->c_str(), i,
                                      delegate.id()->c_str());
      }
      delegates[i] = loaded->release();
      method_.delegates_ = delegates.first(i + 1);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (Error error = delegates[i]->finish_load(); !error.ok()) {
        return std::move(error).in("%s, delegates[%u] (%s)", plan_.name()->c_str(), i,
                                   plan_.delegates()->Get(i)->id()->c_str());
      }
    }
    return Error();
  }

  Result<std::unique_ptr<Delegate>> load_delegate(const fbs::BackendDelegate& delegate,
                                                  uint32_t index) {
    VITRINE_ASSIGN_OR_RETURN(const DataBuffer processed,
                             program_.delegate_data(*delegate.processed()));
    const uint32_t num_specs = size_of(delegate.compile_specs());
    const std::span<CompileSpec> specs = arena_.allocate_array<CompileSpec>(num_specs);
    if (specs.size() != num_specs) return no_memory("compile specs");
    for (uint32_t i = 0; i < num_specs; ++i) {
      const fbs::CompileSpec& spec = *delegate.compile_specs()->Get(i);
      specs[i].key = spec.key()->string_view();
      if (spec.value() != nullptr) {
        specs[i].value = std::as_bytes(std::span(spec.value()->data(), spec.value()->size()));
      }
    }
    BackendInitContext context;
    context.named_data = &method_.named_data_;
    context.pool = options_.pool;
    context.tracer = options_.tracer;
    find_first_call(index, context);
    const BackendInterface* backend = options_.backends->find(delegate.id()->string_view());
    context.program = &program_;
    context.options = options_.backend_options;
    Result<std::unique_ptr<Delegate>> made = backend->init(context, processed.bytes(), specs);
    program_.release_delegate_data(*delegate.processed());
    return made;
  }

  void find_first_call(uint32_t delegate_index, BackendInitContext& context) const {
    for (uint32_t c = 0; c < plan_.chains()->size(); ++c) {
      const auto* instructions = plan_.chains()->Get(c)->instructions();
      for (uint32_t i = 0; i < size_of(instructions); ++i) {
        const auto* call = instructions->Get(i)->instr_args_as_DelegateCall();
        if (call == nullptr || static_cast<uint32_t>(call->delegate_index()) != delegate_index) {
          continue;
        }
        context.chain_index = static_cast<int32_t>(c);
        context.instruction_id = static_cast<int32_t>(i);
        return;
      }
    }
  }

  Error make_steps() {
    const uint32_t num_chains = plan_.chains()->size();
    size_t num_steps = 0;
    for (const fbs::Chain* chain : *plan_.chains()) num_steps += size_of(chain->instructions());
    method_.chains_ = arena_.allocate_array<Method::ChainSteps>(num_chains);
    method_.steps_ = arena_.allocate_array<Step>(num_steps);
    if (method_.chains_.size() != num_chains || method_.steps_.size() != num_steps) {
      return no_memory("instructions");
    }
    uint32_t next = 0;
    for (uint32_t c = 0; c < num_chains; ++c) {
      const auto* instructions = plan_.chains()->Get(c)->instructions();
      method_.chains_[c] = {next, size_of(instructions)};
      for (uint32_t i = 0; i < size_of(instructions); ++i) {
        VITRINE_RETURN_IF_ERROR(
            make_step(*instructions->Get(i), method_.steps_[next++])
                .in("%s, chains[%u].instructions[%u]", plan_.name()->c_str(), c, i));
      }
    }
    return missing_dtypes_ == 0 ? Error() : name_missing_dtypes();
  }

  // Dtypes never change, but what a kernel is given does where a move exchanges tensors.
  void note_dtypes(const Step& step, uint32_t kernel_dtypes) {
    const auto note = [&](const Tensor* tensor) {
      if (tensor != nullptr) {
        missing_dtypes_ |= 1u << static_cast<uint32_t>(tensor->dtype()) & ~kernel_dtypes;
      }
    };
    for (size_t i = 0; i < step.num_arguments; ++i) {
      const EValue& value = *step.arguments[i];
      std::span<Tensor* const> list;
      if (value.is_tensor()) note(&value.tensor());
      if (value.is_tensor_list() && value.read_tensor_list(&list))
        std::ranges::for_each(list, note);
    }
  }

  Error name_missing_dtypes() {
    NameList names(arena_, kNumScalarTypes * 16);
    for (int i = 0; i < kNumScalarTypes; ++i) {
      if ((missing_dtypes_ >> i & 1u) != 0) {
        names.add(scalar_type_name(static_cast<ScalarType>(i)));
      }
    }
    return Error::make(ErrorCode::kNotSupported,
                       "%s: dtype %s is not in this build (VITRINE_SELECT_OPS)",
                       plan_.name()->c_str(), names.text());
  }

  Error make_step(const fbs::Instruction& from, Step& step) {
    switch (from.instr_args_type()) {
      case fbs::InstructionArguments::KernelCall: {
        const fbs::KernelCall& call = *from.instr_args_as_KernelCall();
        const ResolvedOperator& op = operators_[static_cast<size_t>(call.op_index())];
        if (size_of(call.args()) != op.found.kernel->num_arguments) {
          return Error::make(ErrorCode::kInvalidProgram, "%s takes %u arguments, not %u", op.name,
                             op.found.kernel->num_arguments, size_of(call.args()));
        }
        step.kind = TraceRecord::Kind::kKernelCall;
        step.function = op.found.kernel->function;
        step.name = op.name;
        step.table = op.found.table;
        VITRINE_RETURN_IF_ERROR(set_arguments(call.args(), step));
        note_dtypes(step, op.found.dtypes);
        return Error();
      }
      case fbs::InstructionArguments::DelegateCall: {
        const fbs::DelegateCall& call = *from.instr_args_as_DelegateCall();
        step.kind = TraceRecord::Kind::kDelegateCall;
        step.delegate = method_.delegates_[static_cast<size_t>(call.delegate_index())];
        step.name =
            plan_.delegates()->Get(static_cast<uint32_t>(call.delegate_index()))->id()->c_str();
        return set_arguments(call.args(), step);
      }
      case fbs::InstructionArguments::MoveCall: {
        const fbs::MoveCall& call = *from.instr_args_as_MoveCall();
        step.kind = TraceRecord::Kind::kMove;
        VITRINE_RETURN_IF_ERROR(set_arguments({call.move_from(), call.move_to()}, step));
        note_dtypes(step, common_dtypes_);
        return Error();
      }
      case fbs::InstructionArguments::JumpFalseCall: {
        const fbs::JumpFalseCall& call = *from.instr_args_as_JumpFalseCall();
        step.kind = TraceRecord::Kind::kJumpFalse;
        step.destination = static_cast<uint32_t>(call.destination_instruction());
        return set_arguments({call.cond_value_index()}, step);
      }
      default:
        step.kind = TraceRecord::Kind::kFree;
        return Error();
    }
  }

  template <class Indices>
  Error set_arguments(const Indices& begin, const Indices& end, size_t count, Step& step) {
    const std::span<EValue*> arguments = arena_.allocate_array<EValue*>(count);
    if (arguments.size() != count) return no_memory("arguments");
    size_t i = 0;
    for (auto it = begin; it != end; ++it) {
      arguments[i++] = &method_.values_[static_cast<size_t>(*it)];
    }
    step.arguments = arguments.data();
    step.num_arguments = static_cast<uint32_t>(count);
    return Error();
  }
  Error set_arguments(const flatbuffers::Vector<int32_t>* indices, Step& step) {
    if (indices == nullptr) return Error();
    return set_arguments(indices->begin(), indices->end(), indices->size(), step);
  }
  Error set_arguments(std::initializer_list<int32_t> indices, Step& step) {
    return set_arguments(indices.begin(), indices.end(), indices.size(), step);
  }

  Method& method_;
  const MethodOptions& options_;
  const fbs::ExecutionPlan& plan_;
  const Program& program_;
  HeapArena& arena_;
  std::span<ResolvedOperator> operators_;
  uint32_t common_dtypes_ = KernelTable::kAllDtypes;  // that all kernels of the method take
  uint32_t missing_dtypes_ = 0;                       // that some are given and do not take
  std::span<std::byte*> planned_;
  std::span<DataBuffer*> external_room_;
};

Result<std::unique_ptr<Method>> Method::load(std::shared_ptr<const Program> program,
                                             std::string_view name, const MethodOptions& options) {
  TraceRecord whole;
  TraceRecord init;
  EventTracer* tracer = options.tracer;
  if (tracer != nullptr) {
    tracer->begin_block("Default");
    whole.name = "Program::load_method";
    init.name = "Method::init";
    whole.start_ns = platform::now_ns();
  }
  VITRINE_ASSIGN_OR_RETURN(const MethodMeta meta, program->method_meta(name));
  std::unique_ptr<Method> method(new (std::nothrow) Method(std::move(program), meta, options));
  if (!method) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a method");
  if (tracer != nullptr) init.start_ns = platform::now_ns();
  VITRINE_RETURN_IF_ERROR(MethodLoader(*method, options).load());
  if (tracer != nullptr) {
    init.end_ns = platform::now_ns();
    tracer->record(init);
    whole.end_ns = platform::now_ns();
    tracer->record(whole);
  }
  return method;
}

}  // namespace vitrine
