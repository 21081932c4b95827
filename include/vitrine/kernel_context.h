// KernelContext lets a kernel report errors, allocate temporary memory and use threads. A context
// belongs to one Method, and only one thread at a time uses the context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "vitrine/error.h"
#include "vitrine/memory_allocator.h"
#include "vitrine/tensor.h"

namespace vitrine {

class DerivedData;
class EValue;
class ThreadPool;

class KernelContext {
 public:
  // The executor resets `temp` after each instruction. `pool` may be null. Both must outlive the
  // context.
  explicit KernelContext(HeapArena* temp, ThreadPool* pool = nullptr) : temp_(temp), pool_(pool) {}

  // The kernel must return after this call, and the executor stops at this instruction. Only the
  // first error is kept.
  [[gnu::format(printf, 3, 4)]] void fail(ErrorCode code, const char* format, ...);
  void fail(Error error);
  bool failed() const { return failed_; }
  // Returns the error and clears it.
  Error take_error();

  // Reports an error and returns false if the output cannot have these sizes. An output that is
  // also an input of this call must keep its sizes.
  [[nodiscard]] bool resize(Tensor& out, std::span<const int32_t> sizes) {
    return out.has_sizes(sizes) || resize_checked(out, sizes);
  }
  // Sets the arguments of the current call. Bit n of `inputs` is set if argument n is an input. The
  // code that unboxes arguments calls this (vitrine/kernel.h).
  void set_call(EValue* const* arguments, uint32_t inputs) {
    arguments_ = arguments;
    inputs_ = inputs;
  }

  // Returns uninitialized memory, valid until the end of the instruction or of the innermost
  // TemporaryScope. If memory runs out, reports an error and returns null.
  void* allocate_temp(size_t bytes, size_t alignment = 64);
  // Allocates the product of `factors` in bytes, but at least one byte. Reports an error if the
  // product overflows, so callers must not multiply sizes of tensors themselves.
  void* allocate_temp(std::initializer_list<int64_t> factors);
  // Returns `count` value-initialized elements. If memory runs out, reports an error and returns
  // an empty span.
  template <class T>
  std::span<T> allocate_temp_array(size_t count) {
    std::span<T> result = temp_->allocate_array<T>(count);
    if (result.empty() && count != 0) {
      fail(ErrorCode::kMemoryAllocationFailed, "no temporary memory for %zu elements", count);
    }
    return result;
  }

  // The destructor frees the temporary memory that was allocated during the scope's lifetime.
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

  // Memory for data that a kernel derives from a constant, such as packed weights.
  struct Derived {
    void* data;   // null if the kernel must do without
    bool is_new;  // the kernel must set the data now
  };
  // Returns memory that is valid until the method is destroyed. Later calls for the same constant
  // with the same `key` and `bytes` return the same memory. Use different keys for different data
  // of the same size from the same bytes.
  //
  // Returns null data, without an error, if `from` is not a constant or if the memory budget is too
  // small. If the system has no memory left, returns null data and reports an error, so that
  // results do not depend on the free memory of the system.
  Derived derive(const Tensor& from, uint64_t key, size_t bytes);
  // Sets the storage of derived data, which must outlive the context. If `data` is null, derived
  // data is not stored. The executor calls this.
  void set_derived_data(DerivedData* data) { derived_ = data; }

  ThreadPool* pool() const { return pool_; }

 private:
  bool resize_checked(Tensor& out, std::span<const int32_t> sizes);
  bool is_input(const Tensor& tensor) const;

  HeapArena* temp_;
  ThreadPool* pool_;
  DerivedData* derived_ = nullptr;
  EValue* const* arguments_ = nullptr;
  uint32_t inputs_ = 0;
  bool failed_ = false;
  Error error_;
};

}  // namespace vitrine
