// Creates tensors and lists for tests, and owns their memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "vitrine/evalue.h"
#include "vitrine/tensor.h"

namespace vitrine::test {

// The tensors and values are valid while the factory is alive.
class TensorFactory {
 public:
  // Creates a tensor. `values` are in memory order, which is row-major unless `dim_order` is set.
  // The memory is 64-byte aligned and exactly as large as the tensor, so that AddressSanitizer
  // detects every overrun.
  template <class T>
  Tensor& make(std::vector<int32_t> sizes, const std::vector<T>& values,
               std::vector<uint8_t> dim_order = {},
               ShapeDynamism dynamism = ShapeDynamism::kStatic) {
    Tensor& tensor = make(scalar_type_of<T>, std::move(sizes), std::move(dim_order), dynamism);
    if (values.size() != static_cast<size_t>(tensor.numel())) std::abort();
    std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
    return tensor;
  }

  // Creates a tensor with all bytes set to 0xcd, so that tests detect outputs that are not written.
  Tensor& make(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> dim_order = {},
               ShapeDynamism dynamism = ShapeDynamism::kStatic) {
    Storage& storage = storages_.emplace_back();
    storage.sizes = std::move(sizes);
    storage.dim_order = std::move(dim_order);
    if (storage.dim_order.empty()) {
      storage.dim_order.resize(storage.sizes.size());
      std::iota(storage.dim_order.begin(), storage.dim_order.end(), uint8_t{0});
    }
    storage.strides.resize(storage.sizes.size());
    storage.tensor =
        Tensor(dtype, storage.sizes, storage.dim_order, storage.strides, nullptr, dynamism);
    storage.data = allocate(storage.tensor.nbytes());
    storage.tensor.set_data(storage.data.get());
    return storage.tensor;
  }

  // Moves both tensors into one block of memory. Keeps the data of `b`, but not the data of `a`.
  // `a` starts `offset` bytes after the start of `b`. If `offset` is negative, `b` starts -offset
  // bytes after the start of `a`. The distance is limited to the size of the tensor that starts
  // first, and rounded down to a multiple of the alignment of the other tensor.
  void overlap(Tensor& a, Tensor& b, int64_t offset) {
    Tensor& inner = offset >= 0 ? a : b;
    Tensor& outer = offset >= 0 ? b : a;
    const size_t alignment = std::clamp<size_t>(inner.element_size(), 1, 8);
    const size_t wanted = static_cast<size_t>(offset >= 0 ? offset : -offset);
    const size_t at = std::min(wanted, outer.bound_nbytes()) / alignment * alignment;
    std::byte* const block =
        blocks_.emplace_back(allocate(std::max(outer.bound_nbytes(), at + inner.bound_nbytes())))
            .get();
    std::copy_n(b.unchecked_data<std::byte>(), b.bound_nbytes(), block + (offset >= 0 ? 0 : at));
    outer.set_data(block);
    inner.set_data(block + at);
  }

  EValue& value(Tensor& tensor) { return values_.emplace_back(&tensor); }

  EValue ints(const std::vector<int64_t>& values) {
    auto& list = int_lists_.emplace_back();
    for (const int64_t value : values) list.values.emplace_back(value);
    return EValue(list.finish());
  }
  // Creates a list of tensors. Null pointers become None.
  EValue tensors(const std::vector<Tensor*>& values, bool optional = false) {
    auto& list = tensor_lists_.emplace_back();
    for (Tensor* value : values) list.values.push_back(value ? EValue(value) : EValue());
    return EValue(list.finish(), optional);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(64)); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  static Memory allocate(size_t bytes) {
    Memory memory(
        static_cast<std::byte*>(::operator new(bytes == 0 ? 1 : bytes, std::align_val_t(64))));
    std::fill_n(memory.get(), bytes, std::byte{0xcd});
    return memory;
  }
  struct Storage {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
    std::vector<int64_t> strides;
    Memory data;
    Tensor tensor;
  };
  template <class T, class Body>
  struct List {
    std::deque<EValue> values;
    std::vector<EValue*> items;
    std::vector<T> scratch;
    Body body;

    Body* finish() {
      for (EValue& value : values) items.push_back(&value);
      scratch.resize(values.size());
      body = {items, scratch.data()};
      return &body;
    }
  };

  std::deque<Storage> storages_;
  std::deque<Memory> blocks_;
  std::deque<EValue> values_;
  std::deque<List<int64_t, IntListBody>> int_lists_;
  std::deque<List<Tensor*, TensorListBody>> tensor_lists_;
};

// Returns the elements of a tensor in memory order.
template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  return std::vector<T>(tensor.unchecked_data<T>(), tensor.unchecked_data<T>() + tensor.numel());
}

}  // namespace vitrine::test
