#include "runtime/executor/shared_memory.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/sort.h"
#include "runtime/platform/memory.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "vitrine/tensor.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;

constexpr uint32_t kSharedMemoryId = SharedMemory::kMemoryId;
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

uint64_t offset_of(const fbs::Tensor& tensor) { return planned_offset(*tensor.allocation_info()); }

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

// Returns the size of the shared buffer, or 0 if the program's methods do not share state.
size_t shared_bytes(const Program& program) {
  uint64_t bytes = 0;
  size_t sharing = 0;
  for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
    if (size_of(plan->non_const_buffer_sizes()) <= kSharedMemoryId) continue;  // no shared buffer
    const uint64_t size = shared_size(*plan);
    if (size == 0 || (sharing != 0 && size != bytes) || has_shared_input(*plan)) return 0;
    bytes = size;
    ++sharing;
  }
  return sharing < 2 || bytes > kMaxBytes ? 0 : static_cast<size_t>(bytes);
}

// Returns the tensors of the shared buffer, sorted and without duplicates. Returns no tensors if
// two different tensors overlap, because executions then overwrite one tensor with the other.
Result<SharedMemory::StateTensors> find_tensors(const Program& program) {
  using StateTensor = SharedMemory::StateTensor;
  const auto for_each = [&program](auto&& visit) {
    for (const fbs::ExecutionPlan* plan : *ProgramAccess::root(program).execution_plan()) {
      for (const fbs::EValue* value : *plan->values()) {
        const fbs::Tensor* tensor = shared_tensor(*value);
        if (tensor != nullptr) visit(StateTensor{offset_of(*tensor), bytes_of(*tensor), false});
      }
    }
  };
  SharedMemory::StateTensors tensors;
  for_each([&](const StateTensor& state) { tensors.count += state.bytes != 0 ? 1 : 0; });
  tensors.all.reset(new (std::nothrow) StateTensor[tensors.count]);
  if (!tensors.all) {
    return Error::make(ErrorCode::kMemoryAllocationFailed,
                       "no memory for the tensors of a shared state");
  }
  StateTensor* end = tensors.all.get();
  for_each([&](const StateTensor& state) {
    if (state.bytes != 0) *end++ = state;
  });
  sort(std::span(tensors.all.get(), end), std::less<>());
  const auto same = [](const StateTensor& a, const StateTensor& b) { return !(a < b) && !(b < a); };
  end = std::unique(tensors.all.get(), end, same);
  const auto overlap = [](const StateTensor& a, const StateTensor& b) {
    return a.offset + a.bytes > b.offset;
  };
  const bool is_apart = std::adjacent_find(tensors.all.get(), end, overlap) == end;
  tensors.count = is_apart ? static_cast<size_t>(end - tensors.all.get()) : 0;
  return tensors;
}

}  // namespace

void SharedMemory::FreeMemory::operator()(std::byte* memory) const { std::free(memory); }

SharedMemory::ExclusiveUse::ExclusiveUse(SharedMemory* state)
    : state_(state), acquired_(state == nullptr || !state->is_running_.exchange(true)) {}
SharedMemory::ExclusiveUse::~ExclusiveUse() {
  if (state_ != nullptr && acquired_) state_->is_running_ = false;
}

Error SharedMemory::take_memory(std::span<std::byte> memory, uint64_t max_bytes) {
  if (!memory.empty()) {
    if (memory.size() < bytes_ || reinterpret_cast<uintptr_t>(memory.data()) % 16 != 0) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "the shared memory must have %zu bytes, 16-byte aligned; got %zu", bytes_,
                         memory.size());
    }
    memory_ = memory;
    return Error();
  }
  const size_t total = bytes_ + kReadableSlack;
  const uint64_t bound = max_bytes != 0 ? max_bytes : platform::available_memory();
  if (bytes_ <= bound) {
    owned_memory_.reset(static_cast<std::byte*>(std::calloc(1, total + kAlignment)));
  }
  if (!owned_memory_) {
    return Error::make(ErrorCode::kMemoryAllocationFailed,
                       "no memory for the %zu bytes that the methods share; max_memory_bytes "
                       "allows %llu",
                       bytes_, static_cast<unsigned long long>(bound));
  }
  const auto address = reinterpret_cast<uintptr_t>(owned_memory_.get());
  memory_ = {owned_memory_.get() + (round_up(address, kAlignment) - address), total};
  return Error();
}

Result<std::unique_ptr<SharedState>> SharedState::create(std::shared_ptr<const Program> program,
                                                         std::span<std::byte> memory,
                                                         uint64_t max_bytes) {
  const size_t bytes = shared_bytes(*program);
  if (bytes == 0) return std::unique_ptr<SharedState>();
  VITRINE_ASSIGN_OR_RETURN(SharedMemory::StateTensors tensors, find_tensors(*program));
  if (tensors.count == 0) return std::unique_ptr<SharedState>();
  std::unique_ptr<SharedMemory> state(
      new (std::nothrow) SharedMemory(std::move(program), bytes, std::move(tensors)));
  if (!state)
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a shared state");
  VITRINE_RETURN_IF_ERROR(state->take_memory(memory, max_bytes));
  return std::unique_ptr<SharedState>(std::move(state));
}

SharedMemory::StateTensor& SharedMemory::tensor_at(uint64_t offset) {
  StateTensor* const all = tensors_.all.get();
  const auto is_before = [offset](const StateTensor& state) { return state.offset < offset; };
  return *std::partition_point(all, all + tensors_.count, is_before);
}

}  // namespace vitrine
