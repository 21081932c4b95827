// Which inputs' memory an execution may overwrite: these must be set again before the next one.
#include <algorithm>
#include <functional>

#include "runtime/core/sort.h"
#include "runtime/executor/method_loader.h"

namespace vitrine {
namespace {

// Bytes of planned memory.
struct PlannedRange {
  uint32_t buffer = 0;
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator<(const PlannedRange& other) const {
    return buffer != other.buffer ? buffer < other.buffer : begin < other.begin;
  }
};

// Empty if `value` is not a tensor in planned memory.
PlannedRange range_of(const fbs::EValue& value, const EValue& made) {
  const fbs::Tensor* tensor = value.val_as_Tensor();
  if (tensor == nullptr || tensor->allocation_info() == nullptr) return {};
  const fbs::AllocationDetails& info = *tensor->allocation_info();
  const uint64_t begin = info.memory_offset_low() | static_cast<uint64_t>(info.memory_offset_high())
                                                        << 32;
  return {info.memory_id(), begin, begin + made.unchecked_tensor().bound_nbytes()};
}

}  // namespace

Error MethodLoader::mark_written(int32_t value) {
  const auto index = static_cast<uint32_t>(value);
  written_[index] = true;
  if (!method_.values_[index].is_tensor_list()) return Error();
  const fbs::TensorList* list = plan_.values()->Get(index)->val_as_TensorList();
  if (list == nullptr) return Error();
  VITRINE_RETURN_IF_ERROR(work(list->items()->size()));
  for (const int32_t item : *list->items()) written_[static_cast<size_t>(item)] = true;
  return Error();
}

// An input that the program itself updates keeps what it wrote, so it does not count.
Error MethodLoader::find_reused_inputs() {
  const bool any_planned = std::ranges::any_of(method_.inputs_, &Method::Input::is_planned);
  if (!any_planned) return Error();
  const uint32_t count = plan_.values()->size();
  for (const int32_t input : *plan_.inputs()) written_[static_cast<size_t>(input)] = false;

  const auto ranges = static_cast<size_t>(std::ranges::count(written_, true));
  if (ranges == 0) return Error();
  const std::span<PlannedRange> sorted = scratch_.allocate_array<PlannedRange>(ranges);
  if (sorted.empty()) return no_memory("what is written");
  auto next = sorted.begin();
  for (uint32_t i = 0; i < count; ++i) {
    if (written_[i]) *next++ = range_of(*plan_.values()->Get(i), method_.values_[i]);
  }
  sort(sorted, std::less<>());
  // Each range's end becomes the furthest of those up to it.
  for (size_t i = 1; i < ranges; ++i) {
    if (sorted[i].buffer == sorted[i - 1].buffer) {
      sorted[i].end = std::max(sorted[i].end, sorted[i - 1].end);
    }
  }
  for (uint32_t i = 0; i < method_.inputs_.size(); ++i) {
    Method::Input& input = method_.inputs_[i];
    if (!input.is_planned) continue;
    const PlannedRange range =
        range_of(*plan_.values()->Get(static_cast<uint32_t>(plan_.inputs()->Get(i))), *input.value);
    // The last that begins before the input's end.
    const auto after = std::lower_bound(sorted.begin(), sorted.end(),
                                        PlannedRange{range.buffer, range.end, range.end});
    input.is_reused = after != sorted.begin() && std::prev(after)->buffer == range.buffer &&
                      std::prev(after)->end > range.begin && range.begin != range.end;
  }
  return Error();
}

}  // namespace vitrine
