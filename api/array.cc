#include "vitrine/array.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "runtime/core/share.h"
#include "vitrine/data_source.h"

namespace vitrine {

struct [[gnu::visibility("hidden")]] Array::State {
  std::array<int32_t, kMaxRank> sizes{};
  std::array<uint8_t, kMaxRank> dim_order{};
  std::array<int64_t, kMaxRank> strides{};
  DataBuffer owned;
  Tensor tensor;
};

Result<Array> Array::make(ScalarType dtype, std::span<const int32_t> sizes,
                          std::span<const uint8_t> dim_order) {
  if (element_size(dtype) == 0) {
    return Error::make(ErrorCode::kInvalidArgument, "%d is not a dtype", static_cast<int>(dtype));
  }
  if (sizes.size() > kMaxRank) {
    return Error::make(ErrorCode::kInvalidArgument, "an array has at most %zu dimensions, got %zu",
                       kMaxRank, sizes.size());
  }
  if (!dim_order.empty() && (dim_order.size() != sizes.size() || !is_permutation(dim_order))) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "the dim order must list each of the %zu dimensions once", sizes.size());
  }
  VITRINE_RETURN_IF_ERROR(checked_numel(sizes).take_error());
  std::shared_ptr<State> state = share(std::unique_ptr<State>(new (std::nothrow) State));
  if (state == nullptr) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for an array");
  }
  const size_t rank = sizes.size();
  std::copy(sizes.begin(), sizes.end(), state->sizes.begin());
  std::iota(state->dim_order.begin(), state->dim_order.begin() + rank, uint8_t{0});
  std::copy(dim_order.begin(), dim_order.end(), state->dim_order.begin());
  state->tensor =
      Tensor(dtype, std::span(state->sizes).first(rank), std::span(state->dim_order).first(rank),
             std::span(state->strides).first(rank), nullptr);
  return Array(std::move(state));
}

Result<Array> Array::allocate(ScalarType dtype, std::span<const int32_t> sizes,
                              std::span<const uint8_t> dim_order) {
  VITRINE_ASSIGN_OR_RETURN(Array array, make(dtype, sizes, dim_order));
  State& state = *array.state_;
  VITRINE_ASSIGN_OR_RETURN(state.owned, DataBuffer::allocate(state.tensor.nbytes()));
  state.tensor.set_data(state.owned.owned_data(), state.owned.has_slack());
  return array;
}

Result<Array> Array::zeros(ScalarType dtype, Sizes sizes, std::span<const uint8_t> dim_order) {
  VITRINE_ASSIGN_OR_RETURN(Array array, allocate(dtype, sizes.get(), dim_order));
  if (array.numel() != 0) std::memset(array.mutable_bytes().data(), 0, array.bytes().size());
  return array;
}

Result<Array> Array::copy_of(ScalarType dtype, std::span<const std::byte> bytes, Sizes sizes) {
  VITRINE_ASSIGN_OR_RETURN(Array array, allocate(dtype, sizes.get()));
  VITRINE_RETURN_IF_ERROR(array.copy_from(bytes));
  return array;
}

Result<Array> Array::borrow(ScalarType dtype, std::span<std::byte> memory, Sizes sizes) {
  VITRINE_ASSIGN_OR_RETURN(Array array, make(dtype, sizes.get(), {}));
  const size_t nbytes = array.tensor().nbytes();
  if (memory.size() != nbytes) {
    return Error::make(ErrorCode::kInvalidArgument, "the array needs %zu bytes of memory, got %zu",
                       nbytes, memory.size());
  }
  if (reinterpret_cast<uintptr_t>(memory.data()) % element_size(dtype) != 0) {
    return Error::make(ErrorCode::kInvalidArgument, "the memory is not aligned for %s",
                       scalar_type_name(dtype));
  }
  array.state_->tensor.set_data(memory.data());
  return array;
}

Result<Array> Array::copy_of(const Tensor& tensor) {
  if (!tensor.is_readable()) {
    return Error::make(ErrorCode::kInvalidState, "the tensor has no memory");
  }
  VITRINE_ASSIGN_OR_RETURN(Array array, allocate(tensor.dtype(), tensor.sizes()));
  copy_elements(tensor, array.mutable_tensor());
  return array;
}

Error Array::copy_from(std::span<const std::byte> bytes) {
  Tensor& target = mutable_tensor();
  if (bytes.size() != target.nbytes()) {
    return Error::make(ErrorCode::kInvalidArgument, "the array needs %zu bytes, got %zu",
                       target.nbytes(), bytes.size());
  }
  if (bytes.empty()) return Error();
  if (target.is_contiguous()) {
    std::memcpy(target.mutable_raw_data(), bytes.data(), bytes.size());
    return Error();
  }
  VITRINE_ASSIGN_OR_RETURN(Array source, make(target.dtype(), target.sizes(), {}));
  source.mutable_tensor().set_data(const_cast<std::byte*>(bytes.data()));  // only read
  copy_elements(source.tensor(), target);
  return Error();
}

bool Array::owns_memory() const { return state_ != nullptr && state_->owned.is_owned(); }

std::span<const std::byte> Array::bytes() const {
  return {static_cast<const std::byte*>(tensor().raw_data()), tensor().nbytes()};
}

std::span<std::byte> Array::mutable_bytes() {
  return {static_cast<std::byte*>(mutable_tensor().mutable_raw_data()), tensor().nbytes()};
}

const Tensor& Array::tensor() const {
  static const Tensor kNone;
  return state_ != nullptr ? state_->tensor : kNone;
}

Tensor& Array::mutable_tensor() {
  if (state_ != nullptr) return state_->tensor;
  // All empty Arrays of a thread share this tensor. Each call clears the tensor, so that changes do
  // not affect other empty Arrays.
  static thread_local Tensor none;
  none = Tensor();
  return none;
}

Error Array::check_dtype(ScalarType wanted) const {
  if (is_empty()) return Error::make(ErrorCode::kInvalidState, "the array is empty");
  if (dtype() == wanted) return Error();
  return Error::make(ErrorCode::kInvalidType, "the array has dtype %s, not %s",
                     scalar_type_name(dtype()), scalar_type_name(wanted));
}

void copy_elements(const Tensor& from, Tensor& to) {
  if (from.numel() == 0) return;
  const auto* source = static_cast<const std::byte*>(from.raw_data());
  auto* target = static_cast<std::byte*>(to.mutable_raw_data());
  if (from.same_dim_order(to)) {
    std::memcpy(target, source, from.nbytes());
    return;
  }
  const auto size = static_cast<int64_t>(from.element_size());
  std::array<int32_t, kMaxRank> index{};
  int64_t read = 0;
  int64_t written = 0;
  for (int64_t i = 0; i < from.numel(); ++i) {
    std::memcpy(target + written * size, source + read * size, static_cast<size_t>(size));
    for (size_t dim = from.rank(); dim-- > 0;) {
      read += from.strides()[dim];
      written += to.strides()[dim];
      if (++index[dim] < from.size(dim)) break;
      read -= from.strides()[dim] * index[dim];
      written -= to.strides()[dim] * index[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace vitrine
