#include "runtime/executor/method_loader.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "runtime/core/checked_math.h"
#include "runtime/extension/derived_data.h"
#include "runtime/platform/clock.h"
#include "runtime/platform/memory.h"
#include "runtime/platform/vector_size.h"

namespace vitrine {
namespace {

constexpr size_t kPlannedAlignment = 64;

}  // namespace

Error MethodLoader::load() {
  VITRINE_RETURN_IF_ERROR(find_kernels_and_backends());
  VITRINE_RETURN_IF_ERROR(find_shared_state());
  const SharedMemory::ExclusiveUse use(method_.shared_state_);
  if (!use) return method_.state_in_use_error();
  VITRINE_RETURN_IF_ERROR(take_planned_memory());
  VITRINE_RETURN_IF_ERROR(make_values());
  prefer_huge_pages();
  VITRINE_RETURN_IF_ERROR(make_inputs_and_outputs());
  VITRINE_RETURN_IF_ERROR(trace_stage("Method::init_delegates", &MethodLoader::load_delegates));
  VITRINE_RETURN_IF_ERROR(make_steps());
  VITRINE_RETURN_IF_ERROR(check_written());
  VITRINE_RETURN_IF_ERROR(find_reused_inputs());
  if (options_.check_plan != nullptr) VITRINE_RETURN_IF_ERROR(options_.check_plan->check(*this));
  VITRINE_RETURN_IF_ERROR(trace_stage("Method::plan_delegates", &MethodLoader::plan_delegates));
  if (options_.check_plan != nullptr) options_.check_plan->keep_results(*this);
  return Error();
}

Error MethodLoader::trace_stage(const char* name, Error (MethodLoader::*stage)()) {
  if (options_.tracer == nullptr || size_of(plan_.delegates()) == 0) return (this->*stage)();
  TraceRecord record;
  record.name = name;
  record.start_ns = platform::now_ns();
  VITRINE_RETURN_IF_ERROR((this->*stage)());
  record.end_ns = platform::now_ns();
  options_.tracer->record(record);
  return Error();
}

Error MethodLoader::no_memory(const char* what) const {
  return Error::make(
      ErrorCode::kMemoryAllocationFailed,
      "no memory for %s: %llu of the %llu bytes that max_memory_bytes allows are in use", what,
      static_cast<unsigned long long>(method_.memory_.used()),
      static_cast<unsigned long long>(method_.memory_.limit()));
}

Error MethodLoader::charge_steps(uint64_t steps) {
  if (method_.load_steps_.take(steps)) return Error();
  return Error::make(ErrorCode::kOutOfResources,
                     "loading needs more than %llu steps (max_load_steps): the file "
                     "refers to the same lists many times",
                     static_cast<unsigned long long>(method_.load_steps_.limit()));
}

Error MethodLoader::charge_bytes(uint64_t bytes) {
  constexpr uint64_t kBytesPerStep = 64;
  return charge_steps(1 + bytes / kBytesPerStep);
}

Error MethodLoader::find_shared_state() {
  auto* const state = static_cast<SharedMemory*>(options_.shared_state);
  if (state == nullptr) return Error();
  if (&state->program() != &program_) {
    return Error::make(ErrorCode::kInvalidArgument, "the shared state belongs to another program");
  }
  if (method_.meta_.num_planned_buffers() >= SharedMemory::kMemoryId) method_.shared_state_ = state;
  return Error();
}

Error MethodLoader::take_planned_memory() {
  const size_t count = method_.meta_.num_planned_buffers();
  method_.buffers_ = arena_.allocate_array<Method::PlannedBuffer>(count);
  if (method_.buffers_.size() != count) return no_memory("planned buffers");
  if (method_.shared_state_ != nullptr) {
    const std::span<std::byte> shared = method_.shared_state_->memory();
    method_.buffers_[SharedMemory::kMemoryId - 1] = {shared.data(), shared.size()};
  }
  if (!options_.planned_memory.empty()) return check_planned_memory();
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    if (method_.is_shared(i)) continue;
    uint64_t size = method_.meta_.planned_buffer_size(i);
    if (add_overflows(size, kPlannedAlignment - 1, &size) || add_overflows(total, size, &total) ||
        total > kMaxBytes) {
      return no_memory("planned memory");
    }
    total = total / kPlannedAlignment * kPlannedAlignment;
  }
  if (total == 0) return Error();
  const size_t alignment = total < platform::kHugePage ? kPlannedAlignment : platform::kHugePage;
  if (method_.memory_.take(total)) {
    // calloc() costs no time here, because the system zeroes large blocks at their first access.
    method_.planned_.reset(static_cast<std::byte*>(
        std::calloc(1, static_cast<size_t>(total) + alignment + kReadableSlack)));
  }
  if (!method_.planned_) return no_memory("planned memory");
  const auto address = reinterpret_cast<uintptr_t>(method_.planned_.get());
  std::byte* next = method_.planned_.get() + (round_up(address, alignment) - address);
  const std::byte* end = next + total + kReadableSlack;
  for (size_t i = 0; i < count; ++i) {
    if (method_.is_shared(i)) continue;
    method_.buffers_[i] = {next, static_cast<uint64_t>(end - next)};
    next += round_up(method_.meta_.planned_buffer_size(i), kPlannedAlignment);
  }
  return Error();
}

void MethodLoader::prefer_huge_pages() {
  // Larger planned memory does not get huge pages. It often contains decoder caches, which
  // executions rarely fill.
  constexpr size_t kMaxHugeBytes = size_t{32} << 20;
  if (!method_.planned_ || !std::ranges::all_of(method_.values_, has_fixed_size)) return;
  for (size_t i = 0; i < method_.buffers_.size(); ++i) {
    if (method_.is_shared(i)) continue;
    // The readable bytes of the first buffer extend to the end of the last buffer, so one call
    // suffices.
    const auto [data, readable] = method_.buffers_[i];
    if (readable <= kMaxHugeBytes) {
      platform::prefer_huge_pages({data, static_cast<size_t>(readable)});
    }
    return;
  }
}

Error MethodLoader::check_planned_memory() {
  if (options_.planned_memory.size() != method_.buffers_.size()) {
    return Error::make(ErrorCode::kInvalidArgument, "planned_memory must have %zu buffers, got %zu",
                       method_.buffers_.size(), options_.planned_memory.size());
  }
  for (size_t i = 0; i < method_.buffers_.size(); ++i) {
    if (method_.is_shared(i)) continue;
    const std::span<std::byte> given = options_.planned_memory[i];
    if (given.size() < method_.meta_.planned_buffer_size(i) ||
        reinterpret_cast<uintptr_t>(given.data()) % 16 != 0) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "planned_memory[%zu] must have %zu bytes, 16-byte aligned; got %zu at %p",
                         i, method_.meta_.planned_buffer_size(i), given.size(),
                         static_cast<const void*>(given.data()));
    }
    method_.buffers_[i] = {given.data(), given.size()};
  }
  return Error();
}

Error MethodLoader::make_inputs_and_outputs() {
  const size_t num_inputs = size_of(plan_.inputs());
  const size_t num_outputs = size_of(plan_.outputs());
  method_.inputs_ = arena_.allocate_array<Method::Input>(num_inputs);
  method_.outputs_ = arena_.allocate_array<EValue*>(num_outputs);
  if (method_.inputs_.size() != num_inputs || method_.outputs_.size() != num_outputs) {
    return no_memory("inputs and outputs");
  }
  for (uint32_t i = 0; i < num_inputs; ++i) {
    Method::Input& input = method_.inputs_[i];
    input.value = &method_.values_[static_cast<size_t>(plan_.inputs()->Get(i))];
    // A non-tensor input counts as set, because the program contains its only possible value.
    input.is_set = !input.value->is_tensor();
    input.is_planned = input.value->is_tensor() && method_.meta_.input_tensor(i).is_memory_planned;
    if (input.value->is_tensor() && input.value->unchecked_tensor().is_read_only()) {
      return Error::make(ErrorCode::kInvalidProgram, "%s, inputs[%u]: is a constant",
                         plan_.name()->c_str(), i);
    }
  }
  for (uint32_t i = 0; i < num_outputs; ++i) {
    method_.outputs_[i] = &method_.values_[static_cast<size_t>(plan_.outputs()->Get(i))];
  }
  return Error();
}

Result<std::unique_ptr<Method>> Method::load(std::shared_ptr<const Program> program,
                                             std::string_view name, const MethodOptions& options) {
  TraceRecord load;
  TraceRecord init;
  EventTracer* tracer = options.tracer;
  if (tracer != nullptr) {
    tracer->begin_block("Default");
    load.name = "Program::load_method";
    init.name = "Method::init";
    load.start_ns = platform::now_ns();
  }
  VITRINE_ASSIGN_OR_RETURN(const MethodMeta meta, program->method_meta(name));
  std::unique_ptr<Method> method(new (std::nothrow) Method(std::move(program), meta, options));
  if (!method || !method->derived_)
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a method");
  if (tracer != nullptr) init.start_ns = platform::now_ns();
  VITRINE_RETURN_IF_ERROR(MethodLoader(*method, options).load());
  if (tracer != nullptr) {
    init.end_ns = platform::now_ns();
    tracer->record(init);
    load.end_ns = platform::now_ns();
    tracer->record(load);
  }
  return method;
}

}  // namespace vitrine
