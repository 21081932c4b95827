#include "vitrine/method.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "runtime/executor/step.h"
#include "runtime/platform/clock.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;

// A Bool, or a bool tensor of which every element is true.
Result<bool> condition_holds(const EValue& value) {
  if (value.is_bool()) return value.to_bool();
  if (value.is_tensor() && value.tensor().dtype() == ScalarType::kBool &&
      value.tensor().is_readable()) {
    const uint8_t* elements = value.tensor().data<uint8_t>();
    return std::all_of(elements, elements + value.tensor().numel(),
                       [](uint8_t element) { return element != 0; });
  }
  return Error::make(ErrorCode::kInvalidProgram, "the condition is neither Bool nor a bool tensor");
}

// Inputs that are no tensors were compiled into the program.
bool same_constant(const EValue& a, const EValue& b) {
  switch (a.tag()) {
    case EValue::Tag::kInt:
      return a.to_int() == b.to_int();
    case EValue::Tag::kBool:
      return a.to_bool() == b.to_bool();
    case EValue::Tag::kString:
      return a.to_string() == b.to_string();
    case EValue::Tag::kDouble: {
      const double x = a.to_double();
      const double y = b.to_double();
      return x == y || (std::isnan(x) && std::isnan(y)) ||
             std::fabs(x - y) <= 1e-4 + 1e-5 * std::fabs(y);
    }
    default:
      return true;
  }
}

bool is_aligned(const void* data, const Tensor& tensor) {
  const size_t alignment = std::clamp<size_t>(tensor.element_size(), 1, 8);
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

Error misaligned(const Tensor& tensor) {
  return Error::make(ErrorCode::kInvalidArgument, "the memory is not aligned for elements of %s",
                     scalar_type_name(tensor.dtype()));
}

Error copy_input(const Tensor& given, Tensor& planned) {
  // A move may have put a constant there.
  if (!planned.is_writable()) {
    return Error::make(ErrorCode::kInvalidState, "the program left no memory to copy it to");
  }
  VITRINE_RETURN_IF_ERROR(planned.resize(given.sizes()));
  if (given.nbytes() != 0) {
    std::memmove(planned.mutable_raw_data(), given.raw_data(), given.nbytes());
  }
  return Error();
}

Error alias_input(const Tensor& given, Tensor& planned) {
  if (!is_aligned(given.raw_data(), given)) return misaligned(given);
  return planned.alias(given, given.sizes());
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kKernelCall:
      return "kernel";
    case Kind::kDelegateCall:
      return "delegate";
    case Kind::kMove:
      return "move";
    case Kind::kJumpFalse:
      return "jump";
    case Kind::kFree:
      return "free";
    default:
      return "?";
  }
}

}  // namespace

void Method::FreePlanned::operator()(std::byte* memory) const { std::free(memory); }

Method::Method(std::shared_ptr<const Program> program, const MethodMeta& meta,
               const MethodOptions& options)
    : program_(std::move(program)),
      meta_(meta),
      tracer_(options.tracer),
      max_instructions_(options.max_instructions_per_run),
      arena_(16384, options.max_metadata_bytes),
      kernel_context_(&temp_, options.pool),
      named_data_(options.external_data, &program_->named_data()) {}

Method::~Method() {
  for (Delegate* delegate : delegates_) delete delegate;
  for (DataBuffer* buffer : external_) delete buffer;
}

MemoryUsage Method::memory_usage() const {
  MemoryUsage usage;
  if (planned_) {
    for (size_t i = 0; i < meta_.num_planned_buffers(); ++i) {
      usage.planned += meta_.planned_buffer_size(i);
    }
  }
  usage.metadata = arena_.reserved();
  usage.temporary = temp_.reserved();
  for (const Delegate* delegate : delegates_) delegate->report_memory(usage.delegates);
  return usage;
}

Error Method::set_input(size_t index, const EValue& value) {
  if (index >= inputs_.size()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu of %zu", index, inputs_.size());
  }
  EValue& input = *inputs_[index];
  if (value.tag() != input.tag()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu is a %s, not a %s", index,
                       tag_name(input.tag()), tag_name(value.tag()));
  }
  if (!input.is_tensor()) {
    if (!same_constant(value, input)) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "input %zu was fixed when the program was exported and cannot change",
                         index);
    }
    return Error();
  }
  const Tensor& given = value.tensor();
  Tensor& planned = input.tensor();
  if (given.dtype() != planned.dtype()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu is %s, not %s", index,
                       scalar_type_name(planned.dtype()), scalar_type_name(given.dtype()));
  }
  // With another rank there is more to say: see below.
  if (given.rank() == planned.rank() && !given.same_dim_order(planned)) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "input %zu has another dim order than the program expects", index);
  }
  if (!given.is_readable()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu has no data", index);
  }
  Error error = input_is_planned_[index] ? copy_input(given, planned) : alias_input(given, planned);
  if (!error.ok()) return std::move(error).in("input %zu", index);
  input_is_set_[index] = true;
  return Error();
}

Error Method::set_output_data(size_t index, std::span<std::byte> memory) {
  if (index >= outputs_.size() || meta_.output_tag(index) != EValue::Tag::kTensor ||
      !outputs_[index]->is_tensor()) {
    return Error::make(ErrorCode::kInvalidArgument, "output %zu is not a tensor of this method",
                       index);
  }
  if (meta_.output_tensor(index).is_memory_planned) {
    return Error::make(ErrorCode::kInvalidState, "output %zu is memory-planned", index);
  }
  Tensor& output = outputs_[index]->tensor();
  if (memory.size() < output.bound_nbytes()) {
    return Error::make(ErrorCode::kInvalidArgument, "output %zu needs %zu bytes, not %zu", index,
                       output.bound_nbytes(), memory.size());
  }
  if (!is_aligned(memory.data(), output)) return misaligned(output).in("output %zu", index);
  output.set_data(memory.data());
  return Error();
}

Error Method::execute() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!input_is_set_[i]) {
      return Error::make(ErrorCode::kInvalidState, "input %zu is not set", i);
    }
  }
  TraceRecord whole;
  if (tracer_ != nullptr) {
    tracer_->begin_block("Execute");
    whole.name = "Method::execute";
    whole.start_ns = platform::now_ns();
  }
  uint64_t budget = max_instructions_;
  Error error;
  for (size_t i = 0; i < chains_.size() && error.ok(); ++i) {
    error = run_chain(static_cast<int32_t>(i), chains_[i], &budget);
  }
  if (tracer_ != nullptr) {
    whole.end_ns = platform::now_ns();
    tracer_->record(whole);
    if (error.ok()) tracer_->record_outputs(outputs_);
  }
  return error;
}

Error Method::run_chain(int32_t chain_index, const ChainSteps& chain, uint64_t* budget) {
  const std::span<Step> steps = steps_.subspan(chain.first, chain.count);
  // One clock read a step: a step's end is the next one's start.
  EventTracer* const tracer = tracer_;
  uint64_t start_ns = 0;
  if (tracer != nullptr) start_ns = platform::now_ns();
  size_t position = 0;
  while (position < steps.size()) {
    if ((*budget)-- == 0) {
      return at(steps[position], chain_index, position,
                Error::make(ErrorCode::kInvalidProgram,
                            "stopped after %llu instructions: does the program loop forever?",
                            static_cast<unsigned long long>(max_instructions_)));
    }
    const Step& step = steps[position];
    size_t next = position + 1;
    switch (step.kind) {
      case Kind::kKernelCall:
        step.function(kernel_context_, step.arguments);
        if (kernel_context_.failed()) {
          temp_.reset();
          return at(step, chain_index, position, kernel_context_.take_error());
        }
        if (!temp_.empty()) temp_.reset();
        break;
      case Kind::kDelegateCall: {
        const BackendExecutionContext context{tracer, chain_index, static_cast<int32_t>(position)};
        Error error = step.delegate->execute(context, {step.arguments, step.num_arguments});
        if (!error.ok()) return at(step, chain_index, position, std::move(error));
        break;
      }
      case Kind::kMove:
        *step.arguments[1] = *step.arguments[0];
        break;
      case Kind::kJumpFalse: {
        Result<bool> holds = condition_holds(*step.arguments[0]);
        if (!holds.ok()) return at(step, chain_index, position, holds.take_error());
        if (!*holds) next = step.destination;
        break;
      }
      default:  // kFree: planned memory is there for the Method's life
        break;
    }
    if (tracer != nullptr) {
      TraceRecord record;
      record.start_ns = start_ns;
      record.end_ns = platform::now_ns();
      record.name = step.name;
      record.metadata = step.table.data();
      record.metadata_size = static_cast<uint32_t>(step.table.size());
      record.chain_index = chain_index;
      record.instruction_id = static_cast<int32_t>(position);
      record.kind = step.kind;
      tracer->record(record);
      start_ns = record.end_ns;
      const Delegate* delegate = step.kind == Kind::kDelegateCall ? step.delegate : nullptr;
      if (tracer->record_results(record, {step.arguments, step.num_arguments}, delegate)) {
        start_ns = platform::now_ns();
      }
    }
    position = next;
  }
  return Error();
}

Error Method::at(const Step& step, int32_t chain_index, size_t position, Error error) const {
  return std::move(error).in("%s, chain %d, instruction %zu (%s %s)", meta_.plan().name()->c_str(),
                             chain_index, position, kind_name(step.kind),
                             step.name != nullptr ? step.name : "");
}

}  // namespace vitrine
