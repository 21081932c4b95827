// Where tensors that live at different times share memory.
//
// plan_greedy and plan_naive are those of ExecuTorch's memory planning pass, so that plans come out
// the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vitrine::aot {

// One tensor's memory. `first` and `last` are the positions of the first and the last node that
// mention it, inclusive.
struct Allocation {
  uint64_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
  uint64_t offset = 0;  // the result
};

// Sets the offsets, from `begin` on, multiples of `alignment` (a power of two) if `begin` is one.
// Returns the end of what is used. Largest first; each goes where its neighbours in time leave room
// in an existing bucket, else into a new bucket. Throws AotError if it is more than memory can be.
uint64_t plan_greedy(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment);
// Largest first; each goes to the lowest place that is free while it lives. Usually, but not
// always, smaller than ExecuTorch's plan, whose places have a fixed size.
uint64_t plan_tight(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment);
// Places allocations consecutively, without reuse.
uint64_t plan_naive(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment);

}  // namespace vitrine::aot
