// SharedState is memory for state that several methods of a program share, such as the key-value
// cache of the methods prefill and decode.
//
// ExecuTorch's export with share_mutable_buffers puts the mutable buffers of all methods into
// planned memory 2, at the same offsets in each method.
//
//   auto state = SharedState::create(program);
//   auto prefill = Method::load(program, "prefill", {.shared_state = state->get()});
//   auto decode = Method::load(program, "decode", {.shared_state = state->get()});
//
// The first loaded method that uses a mutable buffer sets the buffer's initial value: the value in
// the file, or zeros. Other loads do not change the buffer. If a load fails to read the initial
// value, the next load tries again. Only one of the methods may load or execute at a time.
// Meanwhile, other methods return InvalidState.
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
  // Returns null if the methods do not share state. Methods share state if all of these conditions
  // hold:
  // - At least two methods have a second planned buffer, and no method has a third one.
  // - All second buffers have the same size.
  // - No second buffer contains an input.
  // - Any two tensors in second buffers occupy either the same bytes or no common byte.
  //
  // `memory` must have at least the size of the second buffer (MethodMeta::planned_buffer_size(1)),
  // be zeroed and 16-byte aligned, and outlive the state. If `memory` has kReadableSlack more
  // bytes, delegates need not copy tensors at its end. If `memory` is empty, the state allocates
  // its own memory, at most `max_bytes`. If `max_bytes` is 0, the limit is the memory that is
  // available to the process.
  static Result<std::unique_ptr<SharedState>> create(std::shared_ptr<const Program> program,
                                                     std::span<std::byte> memory = {},
                                                     uint64_t max_bytes = 0);
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  virtual ~SharedState() = default;

  virtual const Program& program() const = 0;
  // Size of the buffer, including gaps between tensors.
  virtual size_t bytes() const = 0;

 private:
  friend class SharedMemory;  // the only implementation: runtime/executor/shared_memory.h
  SharedState() = default;
};

}  // namespace vitrine
