#include "vitrine/shared_state.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/sort.h"
#include "runtime/data/vector_size.h"
#include "runtime/platform/memory.h"
#include "runtime/program/program_access.h"
#include "vitrine/tensor.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

constexpr uint32_t kSharedMemoryId = SharedState::kMemoryId;
constexpr uint64_t kAlignment = 64;

uint64_t shared_size(const fbs::ExecutionPlan& plan) {
  return size_of(plan.non_const_buffer_sizes()) != kSharedMemoryId + 1
             ? 0
             : static_cast<uint64_t>(plan.non_const_buffer_sizes()->Get(kSharedMemoryId));
}

// Null if the value is not a tensor in shared memory.
const fbs::Tensor* shared_tensor(const fbs::EValue& value) {
  const fbs::Tensor* tensor = value.val_as_Tensor();
  const bool is_shared = tensor != nullptr && tensor->allocation_info() != nullptr &&
                         tensor->allocation_info()->memory_id() == kSharedMemoryId;
  return is_shared ? tensor : nullptr;
}

uint64_t offset_of(const fbs::Tensor& tensor) {
  const fbs::AllocationDetails& info = *tensor.allocation_info();
  return info.memory_offset_low() | static_cast<uint64_t>(info.memory_offset_high()) << 32;
}

uint64_t bytes_of(const fbs::Tensor& tensor) {
  uint64_t bytes = element_size(static_cast<ScalarType>(tensor.scalar_type()));
  for (const int32_t size : *tensor.sizes()) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

bool has_shared_input(const fbs::ExecutionPlan& plan) {
  for (uint32_t i = 0; i < size_of(plan.inputs()); ++i) {
    const auto index = static_cast<uint32_t>(plan.inputs()->Get(i));
    if (shared_tensor(*plan.values()->Get(index)) != nullptr) return true;
  }
  return false;
}

}  // namespace

void SharedState::FreeMemory::operator()(std::byte* memory) const { std::free(memory); }

SharedState::Turn::Turn(SharedState* state)
    : state_(state), has_(state == nullptr || !state->is_running_.exchange(true)) {}
SharedState::Turn::~Turn() {
  if (state_ != nullptr && has_) state_->is_running_ = false;
}

// 0 if the plans' buffers are not those of methods that share some.
size_t SharedState::shared_bytes(const Program& program) {
  uint64_t bytes = 0;
  size_t sharing = 0;
  for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
    if (size_of(plan->non_const_buffer_sizes()) <= kSharedMemoryId) continue;  // e.g. constants
    const uint64_t size = shared_size(*plan);
    if (size == 0 || (sharing != 0 && size != bytes) || has_shared_input(*plan)) return 0;
    bytes = size;
    ++sharing;
  }
  return sharing < 2 || bytes > kMostBytes ? 0 : static_cast<size_t>(bytes);
}

// Sorted, each place once. None if tensors overlap: the memory is used again and again, and holds
// no state.
Result<SharedState::Places> SharedState::find_places(const Program& program) {
  const auto for_each = [&program](auto&& visit) {
    for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
      for (const fbs::EValue* value : *plan->values()) {
        const fbs::Tensor* tensor = shared_tensor(*value);
        if (tensor != nullptr) visit(Place{offset_of(*tensor), bytes_of(*tensor), false});
      }
    }
  };
  Places places;
  for_each([&](const Place& place) { places.count += place.bytes != 0 ? 1 : 0; });
  places.all.reset(new (std::nothrow) Place[places.count]);
  if (!places.all) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for the places of a state");
  }
  Place* end = places.all.get();
  for_each([&](const Place& place) {
    if (place.bytes != 0) *end++ = place;
  });
  sort(std::span(places.all.get(), end), std::less<>());
  const auto same = [](const Place& a, const Place& b) { return !(a < b) && !(b < a); };
  end = std::unique(places.all.get(), end, same);
  const auto overlap = [](const Place& a, const Place& b) { return a.offset + a.bytes > b.offset; };
  const bool is_apart = std::adjacent_find(places.all.get(), end, overlap) == end;
  places.count = is_apart ? static_cast<size_t>(end - places.all.get()) : 0;
  return places;
}

Error SharedState::take_memory(std::span<std::byte> memory, uint64_t max_bytes) {
  if (!memory.empty()) {
    if (memory.size() < bytes_ || reinterpret_cast<uintptr_t>(memory.data()) % 16 != 0) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "the methods share %zu bytes, 16-byte aligned; the memory has %zu", bytes_,
                         memory.size());
    }
    memory_ = memory;
    return Error();
  }
  const size_t total = bytes_ + kReadableSlack;
  // calloc: large blocks come zeroed from the system, untouched.
  const uint64_t bound = max_bytes != 0 ? max_bytes : platform::machine_memory();
  if (bytes_ <= bound) {
    own_.reset(static_cast<std::byte*>(std::calloc(1, total + kAlignment)));
  }
  if (!own_) {
    return Error::make(ErrorCode::kMemoryAllocationFailed,
                       "no memory for the %zu bytes that the methods share, of the %llu that "
                       "max_memory_bytes allows",
                       bytes_, static_cast<unsigned long long>(bound));
  }
  const auto address = reinterpret_cast<uintptr_t>(own_.get());
  memory_ = {own_.get() + (round_up(address, kAlignment) - address), total};
  return Error();
}

Result<std::unique_ptr<SharedState>> SharedState::create(std::shared_ptr<const Program> program,
                                                         std::span<std::byte> memory,
                                                         uint64_t max_bytes) {
  const size_t bytes = shared_bytes(*program);
  if (bytes == 0) return std::unique_ptr<SharedState>();
  VITRINE_ASSIGN_OR_RETURN(Places places, find_places(*program));
  if (places.count == 0) return std::unique_ptr<SharedState>();
  std::unique_ptr<SharedState> state(new (std::nothrow) SharedState(std::move(program), bytes));
  if (!state) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a state");
  state->places_ = std::move(places);
  VITRINE_RETURN_IF_ERROR(state->take_memory(memory, max_bytes));
  return state;
}

SharedState::Place& SharedState::place_at(uint64_t offset) {
  Place* const all = places_.all.get();
  const auto is_before = [offset](const Place& place) { return place.offset < offset; };
  return *std::partition_point(all, all + places_.count, is_before);
}

}  // namespace vitrine
