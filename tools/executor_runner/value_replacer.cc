#include "tools/executor_runner/value_replacer.h"

#include <cstring>
#include <vector>

#include "vitrine/evalue.h"
#include "vitrine/half.h"

namespace vitrine::tools {
namespace {

using etdump::DebugTensor;
using inspector::RecomputedTensor;

// Calls visit(offset in memory) for each element in row-major order.
template <class Visit>
void for_each_offset(const Tensor& tensor, Visit visit) {
  std::vector<int64_t> index(tensor.rank(), 0);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < index.size(); ++dim) offset += index[dim] * tensor.strides()[dim];
    visit(static_cast<size_t>(offset));
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < tensor.size(dim)) break;
      index[dim] = 0;
    }
  }
}

RecomputedTensor copy_of(const Tensor& tensor) {
  RecomputedTensor copy{tensor.dtype(), {}};
  copy.bytes.resize(tensor.nbytes());
  const size_t width = tensor.element_size();
  const auto* from = static_cast<const std::byte*>(tensor.raw_data());
  std::byte* to = copy.bytes.data();
  for_each_offset(tensor, [&](size_t offset) {
    std::memcpy(to, from + offset * width, width);
    to += width;
  });
  return copy;
}

template <class T>
void store(std::byte* to, double value) {
  const T converted(static_cast<float>(value));
  std::memcpy(to, &converted, sizeof converted);
}

// Overwrites the tensor with `value`. Converts between floating-point dtypes. Returns false if the
// numbers of elements differ, or if the dtypes differ and are not both floating-point.
bool replace(Tensor& tensor, const DebugTensor& value) {
  const bool converts = is_floating(tensor.dtype()) && is_floating(value.dtype);
  if (!converts && tensor.dtype() != value.dtype) return false;
  const std::vector<std::byte> bytes = etdump::row_major_bytes(value);
  if (bytes.size() / element_size(value.dtype) != static_cast<size_t>(tensor.numel())) return false;
  auto* const memory = static_cast<std::byte*>(tensor.mutable_raw_data());
  const size_t width = tensor.element_size();
  size_t i = 0;
  for_each_offset(tensor, [&](size_t offset) {
    std::byte* const to = memory + offset * width;
    if (tensor.dtype() == value.dtype) {
      std::memcpy(to, bytes.data() + i * width, width);
    } else {
      const double element = inspector::element_as_double(bytes, value.dtype, i);
      switch (tensor.dtype()) {
        case ScalarType::kDouble:
          std::memcpy(to, &element, sizeof element);
          break;
        case ScalarType::kHalf:
          store<Half>(to, element);
          break;
        case ScalarType::kBFloat16:
          store<BFloat16>(to, element);
          break;
        default:
          store<float>(to, element);
      }
    }
    ++i;
  });
  return true;
}

}  // namespace

bool ValueReplacer::record_results(const TraceRecord& step, std::span<EValue* const> arguments,
                                   const Delegate* delegate) {
  if (delegate != nullptr || step.kind != TraceRecord::Kind::kKernelCall || arguments.empty() ||
      step.chain_index != 0) {
    return true;
  }
  EValue& result = *arguments.back();  // the last argument repeats the operator's result
  if (result.is_tensor()) {
    take(step.instruction_id, 0, result.unchecked_tensor());
  } else if (std::span<Tensor* const> list; result.read_tensor_list(&list)) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] != nullptr) take(step.instruction_id, i, *list[i]);
    }
  }
  return true;
}

void ValueReplacer::take(int32_t instruction, size_t index, Tensor& tensor) {
  const auto found = values_.find({instruction, index});
  if (found == values_.end() || !tensor.is_writable() || tensor.raw_data() == nullptr) return;
  RecomputedTensor computed = copy_of(tensor);
  if (replace(tensor, *found->second)) results_[found->first] = std::move(computed);
}

}  // namespace vitrine::tools
