// Memory planning: tensors with disjoint lifetimes may share memory.
//
// plan_greedy and plan_naive produce the same plans as ExecuTorch's memory planning pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vitrine::aot {

// The memory of a tensor. `first` and `last` are the positions of its first and last user.
struct Allocation {
  uint64_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
  uint64_t offset = 0;  // the result
};

// All three planning functions set offsets of at least `begin` and return the end of the used
// memory. `alignment` must be a power of two. If `begin` is a multiple of `alignment`, all offsets
// are multiples of `alignment`. The functions throw AotError if the end exceeds 2^63 - 1.
//
// plan_greedy visits tensors from the largest to the smallest. Each tensor goes into a bucket with
// enough free space during the tensor's lifetime, or else into a new bucket.
uint64_t plan_greedy(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment);
// Like plan_greedy, but gives each tensor the lowest range that is free during its lifetime. The
// plan of plan_tight is usually smaller.
uint64_t plan_tight(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment);
// Places tensors one after another, without sharing memory.
uint64_t plan_naive(std::span<Allocation> allocations, uint64_t begin, uint64_t alignment);

}  // namespace vitrine::aot
