// State that methods of one program share: ExecuTorch's export with share_mutable_buffers gives the
// mutable buffers of all methods (e.g. the cache of prefill and decode) places of their own in
// planned memory 2, the same places in each method.
//
//   auto state = SharedState::create(program);
//   auto prefill = Method::load(program, "prefill", {.shared_state = state->get()});
//   auto decode = Method::load(program, "decode", {.shared_state = state->get()});
//
// The first loaded method that has a buffer sets its initial value: that of the file, else zeros.
// Loading other methods does not change it; a load that cannot read it leaves it to the next. Only
// one of the methods may load or execute at a time; a second one gets an error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "vitrine/error.h"
#include "vitrine/program.h"

namespace vitrine {

class SharedState {
 public:
  static constexpr uint32_t kMemoryId = 2;

  // Null if the program's methods share nothing. They do if at least two have exactly two planned
  // buffers, of which the second has the same size in all of them, and if no tensor there is an
  // input and all lie apart or in the same place.
  // `memory` is not owned, outlives the state, is zeroed, 16-byte aligned, and has at least the
  // size of that buffer (MethodMeta::planned_buffer_size(1)), with kReadableSlack bytes more to
  // spare delegates copies. Empty: the state takes memory of its own, at most `max_bytes`
  // (MethodLimits::max_memory_bytes; 0: what the machine or the container has).
  static Result<std::unique_ptr<SharedState>> create(std::shared_ptr<const Program> program,
                                                     std::span<std::byte> memory = {},
                                                     uint64_t max_bytes = 0);
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  const Program& program() const { return *program_; }
  // The size of the buffer, with the room between tensors.
  size_t bytes() const { return bytes_; }

 private:
  friend class Method;
  friend class MethodLoader;

  // A tensor's place.
  struct Place {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool has_value = false;  // which a method set when it was loaded

    bool operator<(const Place& other) const {
      return offset != other.offset ? offset < other.offset : bytes < other.bytes;
    }
  };
  struct Places {
    std::unique_ptr<Place[]> all;
    size_t count = 0;
  };
  struct FreeMemory {
    void operator()(std::byte* memory) const;
  };
  // While it lives, no other method can load or execute. It is false if another one already does.
  class Turn {
   public:
    explicit Turn(SharedState* state);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return has_; }

   private:
    SharedState* state_;
    bool has_;
  };

  SharedState(std::shared_ptr<const Program> program, size_t bytes)
      : program_(std::move(program)), bytes_(bytes) {}
  static size_t shared_bytes(const Program& program);
  static Result<Places> find_places(const Program& program);
  Error take_memory(std::span<std::byte> memory, uint64_t max_bytes);
  // Of a tensor that is there and has elements.
  Place& place_at(uint64_t offset);

  std::shared_ptr<const Program> program_;
  size_t bytes_;
  std::span<std::byte> memory_;
  std::unique_ptr<std::byte, FreeMemory> own_;
  Places places_;
  std::atomic<bool> is_running_ = false;
  bool is_half_reset_ = false;  // a Method::reset_state() failed after it began
};

}  // namespace vitrine
