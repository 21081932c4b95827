// Finds results that are never written, and inputs whose memory an execution may overwrite. The
// caller must set such inputs before each execution.
#include <algorithm>
#include <cstdio>
#include <functional>

#include "runtime/core/sort.h"
#include "runtime/executor/method_loader.h"
#include "runtime/platform/vector_size.h"

namespace vitrine {

namespace {

bool has_initial_value(const fbs::Tensor& tensor) {
  const fbs::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  return tensor.data_buffer_idx() != 0 ||
         (extra != nullptr && extra->location() == fbs::TensorDataLocation::EXTERNAL);
}

bool contains(const flatbuffers::Vector<int32_t>* items, uint32_t index) {
  return items != nullptr && std::ranges::count(*items, static_cast<int32_t>(index)) != 0;
}

}  // namespace

// Empty for a value that is not a tensor with planned memory.
MethodLoader::PlannedRange MethodLoader::planned_range(uint32_t value) const {
  const fbs::Tensor* tensor = plan_.values()->Get(value)->val_as_Tensor();
  if (tensor == nullptr || tensor->allocation_info() == nullptr) return {};
  const fbs::AllocationDetails& info = *tensor->allocation_info();
  const uint64_t begin = planned_offset(info);
  return {info.memory_id(), begin,
          begin + method_.values_[value].unchecked_tensor().bound_nbytes()};
}

Error MethodLoader::sort_written_ranges() {
  const auto count = static_cast<size_t>(std::ranges::count(written_, true));
  written_ranges_ = scratch_.allocate_array<PlannedRange>(count);
  if (written_ranges_.size() != count) return no_memory("the ranges of written values");
  auto next = written_ranges_.begin();
  for (uint32_t i = 0; i < written_.size(); ++i) {
    if (written_[i]) *next++ = planned_range(i);
  }
  sort(written_ranges_, std::less<>());
  // Moves the end of each range to the largest end so far in its buffer.
  for (size_t i = 1; i < count; ++i) {
    PlannedRange& range = written_ranges_[i];
    const PlannedRange& before = written_ranges_[i - 1];
    if (range.buffer == before.buffer) range.end = std::max(range.end, before.end);
  }
  return Error();
}

bool MethodLoader::overlaps_written(uint32_t value) const {
  const PlannedRange range = planned_range(value);
  // `after` is the first written range that begins at or after the end of `range`. The range before
  // `after` has the largest end so far (sort_written_ranges()), so it overlaps `range` if any
  // written range does.
  const auto after = std::lower_bound(written_ranges_.begin(), written_ranges_.end(),
                                      PlannedRange{range.buffer, range.end, range.end});
  return after != written_ranges_.begin() && std::prev(after)->buffer == range.buffer &&
         std::prev(after)->end > range.begin && range.begin != range.end;
}

Result<bool> MethodLoader::overlaps_scratch(const Tensor& tensor) {
  const auto begin = reinterpret_cast<uintptr_t>(tensor.raw_data());
  for (const Step& step : method_.steps_) {
    VITRINE_RETURN_IF_ERROR(charge_steps(1 + step.num_scratch));
    for (const std::span<std::byte> scratch : std::span(step.scratch, step.num_scratch)) {
      const auto scratch_begin = reinterpret_cast<uintptr_t>(scratch.data());
      if (scratch_begin < begin + tensor.bound_nbytes() && begin < scratch_begin + scratch.size()) {
        return true;
      }
    }
  }
  return false;
}

Error MethodLoader::mark_written(int32_t value) {
  const auto index = static_cast<uint32_t>(value);
  written_[index] = true;
  if (!method_.values_[index].is_tensor_list()) return Error();
  const fbs::TensorList* list = plan_.values()->Get(index)->val_as_TensorList();
  if (list == nullptr) return Error();
  VITRINE_RETURN_IF_ERROR(charge_steps(list->items()->size()));
  for (const int32_t item : *list->items()) written_[static_cast<size_t>(item)] = true;
  return Error();
}

// True if the tensor's bytes come from an input, a step, the program, or another method.
bool MethodLoader::has_source(uint32_t index) const {
  const EValue& value = method_.values_[index];
  if (!value.is_tensor() || written_[index] || exchanged_[index]) return true;
  const Tensor& tensor = value.unchecked_tensor();
  const fbs::Tensor& from = *plan_.values()->Get(index)->val_as_Tensor();
  if (tensor.bound_nbytes() == 0 || has_initial_value(from)) return true;
  const fbs::AllocationDetails* info = from.allocation_info();
  return info != nullptr && info->memory_id() == SharedMemory::kMemoryId &&
         program_.num_methods() > 1;
}

Error MethodLoader::check_written() {
  if (has_unknown_writes_) return Error();
  for (uint32_t i = 0; i < size_of(plan_.inputs()); ++i) {
    written_[static_cast<size_t>(plan_.inputs()->Get(i))] = true;
  }
  for (uint32_t i = 0; i < size_of(plan_.outputs()); ++i) {
    const auto index = static_cast<uint32_t>(plan_.outputs()->Get(i));
    if (has_source(index)) continue;
    char name[32];
    std::snprintf(name, sizeof name, "outputs[%u]", i);
    VITRINE_RETURN_IF_ERROR(check_written(index, name));
  }
  for (const Step& step : method_.steps_) {
    if (step.kind != TraceRecord::Kind::kDelegateCall) continue;
    for (uint32_t i = 0; i < step.num_arguments; ++i) {
      const auto index = static_cast<uint32_t>(step.arguments[i] - method_.values_.data());
      if (step.delegate->is_output(i) || has_source(index)) continue;
      VITRINE_ASSIGN_OR_RETURN(const bool is_read, is_read_besides(step, index));
      if (!is_read) continue;
      char name[32];
      std::snprintf(name, sizeof name, "values[%u]", index);
      VITRINE_RETURN_IF_ERROR(check_written(index, name));
    }
  }
  return Error();
}

// True if a step other than `step` may read the value. Ignores the method's outputs.
Result<bool> MethodLoader::is_read_besides(const Step& step, uint32_t index) {
  for (const Step& other : method_.steps_) {
    VITRINE_RETURN_IF_ERROR(charge_steps(1 + other.num_arguments));
    if (&other == &step) continue;
    const std::span<EValue* const> arguments(other.arguments, other.num_arguments);
    if (std::ranges::count(arguments, &method_.values_[index]) != 0) return true;
  }
  for (const fbs::EValue* value : *plan_.values()) {
    const auto* list = value->val_as_TensorList();
    const auto* optional = value->val_as_OptionalTensorList();
    const auto* items = list != nullptr       ? list->items()
                        : optional != nullptr ? optional->items()
                                              : nullptr;
    VITRINE_RETURN_IF_ERROR(charge_steps(1 + size_of(items)));
    if (contains(items, index)) return true;
  }
  return false;
}

// Reports a tensor without a source. A tensor that overlaps a written value may be a view of that
// value. Such a tensor is accepted unless it is an output argument of a delegate.
Error MethodLoader::check_written(uint32_t index, const char* name) {
  char lost[256] = "";
  bool is_lost = false;
  for (const Step& step : method_.steps_) {
    VITRINE_RETURN_IF_ERROR(charge_steps(1 + step.num_arguments));
    if (step.kind != TraceRecord::Kind::kDelegateCall) continue;
    for (uint32_t i = 0, is_after_output = 0; i < step.num_arguments; ++i) {
      is_after_output |= step.delegate->is_output(i) ? 1 : 0;
      if (step.arguments[i] != &method_.values_[index]) continue;
      is_lost |= is_after_output != 0;
      std::snprintf(lost, sizeof lost,
                    "; a delegate (%.64s) gets it as argument %u, but the payload does "
                    "not define that output",
                    step.name, i);
    }
  }
  if (written_ranges_.empty()) VITRINE_RETURN_IF_ERROR(sort_written_ranges());
  if (!is_lost && overlaps_written(index)) return Error();
  Error error = Error::make(ErrorCode::kInvalidProgram, "%s, %s: no instruction writes it%s",
                            plan_.name()->c_str(), name, lost);
  if (!options_.accept_unwritten_outputs) return error;
  if (method_.warning_.ok()) method_.warning_ = std::move(error);
  return Error();
}

// Finds inputs that share memory with another written value or with a delegate's scratch memory.
// Instructions that write an input itself are ignored, because such an update is intended.
Error MethodLoader::find_reused_inputs() {
  if (std::ranges::none_of(method_.inputs_, &Method::Input::is_planned)) return Error();
  for (const int32_t input : *plan_.inputs()) written_[static_cast<size_t>(input)] = false;

  VITRINE_RETURN_IF_ERROR(sort_written_ranges());
  const bool has_scratch =
      std::ranges::any_of(method_.steps_, [](const Step& step) { return step.num_scratch != 0; });
  for (uint32_t i = 0; i < method_.inputs_.size(); ++i) {
    Method::Input& input = method_.inputs_[i];
    if (!input.is_planned) continue;
    input.is_reused = overlaps_written(static_cast<uint32_t>(plan_.inputs()->Get(i)));
    if (input.is_reused || !has_scratch) continue;
    VITRINE_ASSIGN_OR_RETURN(input.is_reused, overlaps_scratch(input.value->unchecked_tensor()));
  }
  return Error();
}

}  // namespace vitrine
