// SharedState is memory in which several methods of a program keep the same state, such as the
// cache of prefill and decode.
//
// ExecuTorch's export with share_mutable_buffers puts the mutable buffers of all methods into
// planned memory 2, at the same offsets in each method.
//
//   auto state = SharedState::create(program);
//   auto prefill = Method::load(program, "prefill", {.shared_state = state->get()});
//   auto decode = Method::load(program, "decode", {.shared_state = state->get()});
//
// The first loaded method that uses a buffer sets its initial value: the value in the file, or
// zeros if there is none. Loading other methods does not change it. If a load fails to read the
// value, the next load tries again. Only one of the methods may load or execute at a time;
// meanwhile, the others return InvalidState.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "vitrine/error.h"
#include "vitrine/program.h"

namespace vitrine {

class SharedState {
 public:
  // Returns null if the methods of the program share no state. Methods share state if all of the
  // following hold: at least two methods have two planned buffers, and no method has more; the
  // second buffer has the same size in all of them; none of its tensors is an input; and any two of
  // its tensors have either the same bytes or no byte in common.
  //
  // `memory` must outlive the state, be zeroed and 16-byte aligned, and have at least the size of
  // that buffer (MethodMeta::planned_buffer_size(1)). If it has kReadableSlack more bytes,
  // delegates need not copy from it. If `memory` is empty, the state allocates its own memory, at
  // most `max_bytes` (0: the memory that is available to the process).
  static Result<std::unique_ptr<SharedState>> create(std::shared_ptr<const Program> program,
                                                     std::span<std::byte> memory = {},
                                                     uint64_t max_bytes = 0);
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  virtual ~SharedState() = default;

  virtual const Program& program() const = 0;
  // The size of the buffer, including gaps between tensors.
  virtual size_t bytes() const = 0;

 private:
  friend class SharedMemory;  // the only implementation: runtime/executor/shared_memory.h
  SharedState() = default;
};

}  // namespace vitrine
