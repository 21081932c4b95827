#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "vitrine/shared_state.h"

namespace vitrine {

class SharedMemory final : public SharedState {
 public:
  static constexpr uint32_t kMemoryId = 2;  // the program's id of the shared buffer

  struct StateTensor {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool has_value = false;  // a method has set the initial value

    bool operator<(const StateTensor& other) const {
      return offset != other.offset ? offset < other.offset : bytes < other.bytes;
    }
  };
  struct StateTensors {
    std::unique_ptr<StateTensor[]> all;
    size_t count = 0;
  };
  // Tries to lock `state` without waiting. Converts to false if the state was already locked.
  // Converts to true if `state` is null. While a method holds the lock, no other method that shares
  // the state can load or execute.
  class ExclusiveUse {
   public:
    explicit ExclusiveUse(SharedMemory* state);
    ~ExclusiveUse();
    ExclusiveUse(const ExclusiveUse&) = delete;
    ExclusiveUse& operator=(const ExclusiveUse&) = delete;
    explicit operator bool() const { return acquired_; }

   private:
    SharedMemory* state_;
    bool acquired_;
  };

  const Program& program() const override { return *program_; }
  size_t bytes() const override { return bytes_; }
  std::span<std::byte> memory() const { return memory_; }
  // Precondition: a tensor with elements exists at `offset`.
  StateTensor& tensor_at(uint64_t offset);

  bool is_half_reset = false;  // a Method::reset_state() failed halfway

 private:
  friend class SharedState;
  struct FreeMemory {
    void operator()(std::byte* memory) const;
  };

  SharedMemory(std::shared_ptr<const Program> program, size_t bytes, StateTensors tensors)
      : program_(std::move(program)), bytes_(bytes), tensors_(std::move(tensors)) {}
  Error take_memory(std::span<std::byte> memory, uint64_t max_bytes);

  std::shared_ptr<const Program> program_;
  size_t bytes_;
  StateTensors tensors_;
  std::span<std::byte> memory_;
  std::unique_ptr<std::byte, FreeMemory> owned_memory_;
  std::atomic<bool> is_running_ = false;
};

}  // namespace vitrine
