// The context of a kernel call: error reporting, temporary memory, threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "vitrine/error.h"
#include "vitrine/memory_allocator.h"
#include "vitrine/tensor.h"

namespace vitrine {

class EValue;
class ThreadPool;

// Belongs to one Method; used by one thread at a time.
class KernelContext {
 public:
  // `temp` is reset by the executor after each instruction. `pool` may be null. Neither is owned.
  explicit KernelContext(HeapArena* temp, ThreadPool* pool = nullptr) : temp_(temp), pool_(pool) {}

  // The kernel must return after this call; the executor stops at this instruction. Of several
  // errors the first is kept.
  [[gnu::format(printf, 3, 4)]] void fail(ErrorCode code, const char* format, ...);
  void fail(Error error);
  bool failed() const { return failed_; }
  // Leaves the context without a failure.
  Error take_error();

  // Resizes an output; fails and returns false if it cannot take this shape. A tensor that is an
  // input of the same call as well keeps its shape, which the kernel may have read already.
  [[nodiscard]] bool resize(Tensor& out, std::span<const int32_t> sizes) {
    return out.has_sizes(sizes) || resize_to_other(out, sizes);
  }
  // For boxing: the call under way, and which of its arguments are inputs, one bit each.
  void set_call(EValue* const* arguments, uint32_t inputs) {
    arguments_ = arguments;
    inputs_ = inputs;
  }

  // Uninitialised memory until the end of the instruction or TemporaryScope. If none is left, fails
  // and returns null.
  void* allocate_temp(size_t bytes, size_t alignment = 64);
  // As many bytes as the product of `factors`, in checked arithmetic: sizes and sizeof(an element).
  // Products of sizes must not be passed to the function above. One byte for a product of zero.
  void* allocate_temp(std::initializer_list<int64_t> factors);
  // Value-initialised; fails and returns an empty span if no memory is left. `count` > 0.
  template <class T>
  std::span<T> allocate_temp_array(size_t count) {
    std::span<T> result = temp_->allocate_array<T>(count);
    if (result.empty() && count != 0) {
      fail(ErrorCode::kMemoryAllocationFailed, "no temporary memory for %zu elements", count);
    }
    return result;
  }

  // Temporary memory that is allocated in the lifetime of this object ends with it, for
  // computations that are repeated.
  class TemporaryScope {
   public:
    explicit TemporaryScope(KernelContext& context) : temp_(*context.temp_), begin_(temp_.mark()) {}
    ~TemporaryScope() { temp_.rewind(begin_); }
    TemporaryScope(const TemporaryScope&) = delete;
    TemporaryScope& operator=(const TemporaryScope&) = delete;

   private:
    HeapArena& temp_;
    const HeapArena::Mark begin_;
  };

  ThreadPool* pool() const { return pool_; }

 private:
  bool resize_to_other(Tensor& out, std::span<const int32_t> sizes);
  bool is_input(const Tensor& tensor) const;

  HeapArena* temp_;
  ThreadPool* pool_;
  EValue* const* arguments_ = nullptr;
  uint32_t inputs_ = 0;
  bool failed_ = false;
  Error error_;
};

}  // namespace vitrine
