#include "vitrine/method.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <new>

#include "runtime/executor/load_steps.h"
#include "runtime/executor/method_parts.h"
#include "runtime/executor/shared_memory.h"
#include "runtime/executor/step.h"
#include "runtime/executor/tensor_memory.h"
#include "runtime/extension/derived_data.h"
#include "runtime/platform/clock.h"
#include "runtime/platform/memory.h"
#include "runtime/program/program_access.h"
#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

constexpr uint64_t kDefaultInstructions = 10'000'000;

using Kind = TraceRecord::Kind;

// The condition of a jump is a Bool or a bool tensor. A tensor is true if all elements are true.
Result<bool> condition_holds(const EValue& value) {
  if (value.is_bool()) return value.unchecked_bool();
  if (value.is_tensor() && value.unchecked_tensor().dtype() == ScalarType::kBool &&
      value.unchecked_tensor().is_readable()) {
    const uint8_t* elements = value.unchecked_tensor().unchecked_data<uint8_t>();
    return std::all_of(elements, elements + value.unchecked_tensor().numel(),
                       [](uint8_t element) { return element != 0; });
  }
  return Error::make(ErrorCode::kInvalidProgram,
                     "the condition must be a Bool or a bool tensor with memory");
}

template <class T, class Same>
bool same_items(std::span<const T> a, std::span<const T> b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

// Compares two doubles with ExecuTorch's tolerance.
bool same_double(double x, double y) {
  return x == y || (std::isnan(x) && std::isnan(y)) ||
         (std::isfinite(y) && std::fabs(x - y) <= 1e-4 + 1e-5 * std::fabs(y));
}

// Compares a non-tensor input with the program's fixed value. Precondition: equal tags.
bool same_constant(const EValue& a, const EValue& b) {
  switch (a.tag()) {
    case EValue::Tag::kNone:
      return true;
    case EValue::Tag::kInt:
      return a.unchecked_int() == b.unchecked_int();
    case EValue::Tag::kBool:
      return a.unchecked_bool() == b.unchecked_bool();
    case EValue::Tag::kString:
      return a.unchecked_string() == b.unchecked_string();
    case EValue::Tag::kDouble:
      return same_double(a.unchecked_double(), b.unchecked_double());
    case EValue::Tag::kListDouble:
      return same_items(a.unchecked_double_list(), b.unchecked_double_list(), same_double);
    case EValue::Tag::kListBool:
      return same_items(a.unchecked_bool_list(), b.unchecked_bool_list(), std::equal_to<>());
    case EValue::Tag::kListInt: {
      std::span<const int64_t> x;
      std::span<const int64_t> y;
      return a.read_int_list(&x) && b.read_int_list(&y) && same_items(x, y, std::equal_to<>());
    }
    default:
      return false;
  }
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

// Returns the error of an execution that ends before its last instruction. `budget` is the number
// of instructions left. UINT64_MAX means that the limit was reached, because run_chain() decrements
// 0 to this value.
Error end_early(uint64_t budget, uint64_t max_instructions, const StopSignal& stop) {
  if (budget != UINT64_MAX) return stop.error();
  return Error::make(ErrorCode::kInvalidProgram,
                     "stopped after %llu instructions (max_instructions_per_run): an endless loop?",
                     static_cast<unsigned long long>(max_instructions));
}

}  // namespace

bool Method::is_shared(size_t index) const {
  return shared_state_ != nullptr && index + 1 == SharedMemory::kMemoryId;
}

void Method::FreePlanned::operator()(std::byte* memory) const { std::free(memory); }

Method::Method(std::shared_ptr<const Program> program, const MethodMeta& meta,
               const MethodOptions& options)
    : program_(std::move(program)),
      meta_(meta),
      tracer_(options.tracer),
      max_instructions_(options.limits.max_instructions_per_run != 0
                            ? options.limits.max_instructions_per_run
                            : kDefaultInstructions),
      max_milliseconds_(options.limits.max_milliseconds_per_run),
      cancel_flag_(options.cancel_flag != nullptr ? options.cancel_flag : &is_canceled_),
      stop_(cancel_flag_),
      memory_(options.limits.max_memory_bytes != 0 ? options.limits.max_memory_bytes
                                                   : platform::available_memory()),
      load_steps_(options.limits.max_load_steps),
      arena_(16384, &memory_),
      temp_(16384, &memory_),
      derived_(new (std::nothrow) DerivedData(memory_)),
      kernel_context_(&temp_, options.pool),
      named_data_(options.external_data, &program_->named_data()) {
  kernel_context_.set_derived_data(derived_.get());
  if (options.limits.max_load_steps != 0) return;
  const uint64_t external =
      options.external_data != nullptr ? options.external_data->file_bytes() : 0;
  load_steps_ = Budget(default_load_steps(program_->file_bytes() + external));
}

Method::~Method() {
  for (Delegate* delegate : delegates_) delete delegate;
  for (DataBuffer* buffer : external_) delete buffer;
}

MemoryUsage Method::memory_usage() const {
  MemoryUsage usage;
  add_memory_usage(usage);
  return usage;
}

void Method::add_memory_usage(MemoryUsage& sum) const {
  for (size_t i = 0; i < meta_.num_planned_buffers(); ++i) {
    if (is_shared(i)) {
      sum.shared = shared_state_->bytes();
    } else if (planned_) {
      sum.planned += meta_.planned_buffer_size(i);
    }
  }
  sum.metadata += arena_.reserved();
  sum.temporary += temp_.max_reserved();
  sum.budget += memory_.limit();
  sum.taken += memory_.used();
  for (const Delegate* delegate : delegates_) delegate->report_memory(sum.delegates);
  if (derived_ != nullptr) derived_->report_memory(sum.delegates);
}

Error Method::set_input(size_t index, const EValue& value) {
  if (index >= inputs_.size()) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "input index %zu is out of range: the method has %zu inputs", index,
                       inputs_.size());
  }
  Input& slot = inputs_[index];
  RestoredValue* const restored = slot.restored;
  const EValue& input = restored != nullptr ? restored->initial : *slot.value;
  if (value.tag() != input.tag()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu must be of kind %s, got %s", index,
                       tag_name(input.tag()), tag_name(value.tag()));
  }
  if (!input.is_tensor()) {
    if (input.is_tensor_list()) {
      return Error::make(ErrorCode::kNotSupported, "input %zu is a %s, which cannot be set", index,
                         tag_name(input.tag()));
    }
    if (!same_constant(value, input)) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "input %zu was fixed when the program was exported and cannot change",
                         index);
    }
    return Error();
  }
  const Tensor& given = value.unchecked_tensor();
  Tensor& planned = input.unchecked_tensor();
  if (given.dtype() != planned.dtype()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu must have dtype %s, got %s", index,
                       scalar_type_name(planned.dtype()), scalar_type_name(given.dtype()));
  }
  // An input of the wrong rank skips this check, because resizing reports the wrong rank.
  if (given.rank() == planned.rank() && !given.same_dim_order(planned)) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "input %zu has a different dim order than the program expects", index);
  }
  if (!given.is_readable()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu has no data", index);
  }
  if (restored != nullptr) planned.restore_memory(restored->memory);
  Error error = slot.is_planned ? copy_to(given, planned) : alias_input(given, planned);
  if (!error.ok()) return std::move(error).in("input %zu", index);
  if (restored != nullptr) restored->memory = planned;
  slot.is_set = true;
  return Error();
}

const EValue& Method::input(size_t index) const {
  if (index >= inputs_.size()) return kNone;
  const RestoredValue* const restored = inputs_[index].restored;
  return restored != nullptr ? restored->initial : *inputs_[index].value;
}

// Not inlined, to save code size.
[[gnu::noinline]] Method::RestoredValue* Method::find_restored(const EValue* value) const {
  const auto found = std::ranges::lower_bound(restored_, value, {}, &RestoredValue::value);
  return found != restored_.end() && found->value == value ? &*found : nullptr;
}

void Method::restore() {
  for (const RestoredValue& each : restored_) {
    *each.value = each.initial;
    if (each.initial.is_tensor()) each.initial.unchecked_tensor().restore_memory(each.memory);
  }
}

Error Method::execute() {
  is_canceled_.store(false, std::memory_order_relaxed);
  const SharedMemory::ExclusiveUse use(shared_state_);
  if (!use) return state_in_use_error();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_set) continue;
    return Error::make(ErrorCode::kInvalidState,
                       inputs_[i].was_reused
                           ? "input %zu must be set again: the last execution used its memory"
                           : "input %zu is not set",
                       i);
  }
  if (is_half_reset_ || (shared_state_ != nullptr && shared_state_->is_half_reset)) {
    return Error::make(ErrorCode::kInvalidState,
                       "the last reset_state() failed; call it again before the next execution");
  }
  restore();
  ThreadPool* const pool = kernel_context_.pool();
  if (pool != nullptr) pool->begin_run();
  Error error = run();
  if (pool != nullptr) pool->end_run();
  for (Input& input : inputs_) {
    if (!input.is_reused) continue;
    input.is_set = false;
    input.was_reused = true;
  }
  return error;
}

Error Method::state_in_use_error() const {
  return Error::make(ErrorCode::kInvalidState,
                     "%s: another method is using the shared state; wait until it is done",
                     ProgramAccess::plan(meta_).name()->c_str());
}

Error Method::run() {
  TraceRecord execution;
  if (tracer_ != nullptr) {
    tracer_->begin_block("Execute");
    execution.name = "Method::execute";
    execution.start_ns = platform::quick_now_ns();
  }
  uint64_t budget = max_instructions_;
  stop_.set_deadline(max_milliseconds_);
  Error error;
  for (size_t i = 0; i < chains_.size() && error.ok(); ++i) {
    error = run_chain(static_cast<int32_t>(i), chains_[i], &budget);
  }
  if (error.ok() && finish_outputs_ != nullptr) error = finish_outputs_(*this);
  if (tracer_ != nullptr) {
    execution.end_ns = platform::quick_now_ns();
    tracer_->record(execution);
    if (error.ok()) tracer_->record_outputs(outputs_);
  }
  return error;
}

// Not inlined, to save code size.
[[gnu::noinline]] Error Method::run_chain(int32_t chain_index, const ChainSteps& chain,
                                          uint64_t* budget) {
  const std::span<Step> steps = steps_.subspan(chain.first, chain.count);
  // The end time of a step is the start time of the next step, so each step reads the clock once.
  EventTracer* const tracer = tracer_;
  uint64_t start_ns = 0;
  bool wants_results = false;
  if (tracer != nullptr) {
    wants_results = tracer->wants_results();
    start_ns = platform::quick_now_ns();
  }
  size_t position = 0;
  while (position < steps.size()) {
    const Step& step = steps[position];
    if ((*budget)-- == 0 || stop_.is_set()) {
      return add_location(step, chain_index, position,
                          end_early(*budget, max_instructions_, stop_));
    }
    size_t next = position + 1;
    switch (step.kind) {
      case Kind::kKernelCall:
        step.function(kernel_context_, step.arguments);
        if (kernel_context_.failed()) {
          temp_.reset();
          return add_location(step, chain_index, position, kernel_context_.take_error());
        }
        if (!temp_.empty()) temp_.reset();
        break;
      case Kind::kDelegateCall: {
        const BackendExecutionContext context{tracer,
                                              chain_index,
                                              static_cast<int32_t>(position),
                                              &stop_,
                                              {step.scratch, step.num_scratch}};
        Error error = step.delegate->execute(context, {step.arguments, step.num_arguments});
        if (!error.ok()) return add_location(step, chain_index, position, std::move(error));
        break;
      }
      case Kind::kMove:
        *step.arguments[1] = *step.arguments[0];
        break;
      case Kind::kJumpFalse: {
        Result<bool> holds = condition_holds(*step.arguments[0]);
        if (!holds.ok()) return add_location(step, chain_index, position, holds.take_error());
        if (!*holds) next = step.destination;
        break;
      }
      default:  // kFree: planned memory is kept until the Method is destroyed
        break;
    }
    if (tracer != nullptr) {
      TraceRecord record;
      record.start_ns = start_ns;
      record.end_ns = platform::quick_now_ns();
      record.name = step.name;
      record.metadata = step.table.data();
      record.metadata_size = static_cast<uint32_t>(step.table.size());
      record.chain_index = chain_index;
      record.instruction_id = static_cast<int32_t>(position);
      record.kind = step.kind;
      tracer->record(record);
      start_ns = record.end_ns;
      if (wants_results) {
        const Delegate* delegate = step.kind == Kind::kDelegateCall ? step.delegate : nullptr;
        if (tracer->record_results(record, {step.arguments, step.num_arguments}, delegate)) {
          start_ns = platform::quick_now_ns();
        }
      }
    }
    position = next;
  }
  return Error();
}

Error Method::add_location(const Step& step, int32_t chain_index, size_t position,
                           Error error) const {
  const bool has_name = step.name != nullptr && *step.name != '\0';
  return std::move(error).in("%s, chain %d, instruction %zu (%s%s%s)",
                             ProgramAccess::plan(meta_).name()->c_str(), chain_index, position,
                             kind_name(step.kind), has_name ? " " : "", has_name ? step.name : "");
}

}  // namespace vitrine
