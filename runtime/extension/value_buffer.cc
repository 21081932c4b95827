#include "runtime/extension/value_buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/core/checked_math.h"
#include "vitrine/evalue.h"

namespace vitrine {
namespace {

using Kind = ValueBuffer::Entry::Kind;

bool is_tensor_list(const EValue& value) {
  return value.tag() == EValue::Tag::kListTensor || value.tag() == EValue::Tag::kListOptionalTensor;
}

}  // namespace

ValueBuffer::ValueBuffer(size_t max_bytes, size_t max_entries, Content content)
    : data_(new (std::nothrow) std::byte[max_bytes]),
      entries_(new (std::nothrow) Entry[max_entries]),
      content_(content) {
  if (data_ == nullptr || entries_ == nullptr) return;
  max_bytes_ = max_bytes;
  max_entries_ = max_entries;
}

void ValueBuffer::add(const TracedValue& value, size_t record) {
  Entry entry;
  entry.source = value;
  entry.source.value = nullptr;
  entry.source.quantization = nullptr;
  entry.record = record;
  const EValue& from = *value.value;
  const size_t used = used_;
  const size_t num_entries = num_entries_;
  bool fits = true;
  if (from.is_tensor()) {
    fits = add_tensor(entry, from.unchecked_tensor(), value.quantization);
  } else if (is_tensor_list(from)) {
    fits = add_list(entry, from);
  } else if (from.is_int()) {
    entry.integer = from.unchecked_int();
    fits = add_entry(entry);
  } else if (from.is_double()) {
    entry.kind = Kind::kDouble;
    entry.real = from.unchecked_double();
    fits = add_entry(entry);
  } else if (from.is_bool()) {
    entry.kind = Kind::kBool;
    entry.boolean = from.unchecked_bool();
    fits = add_entry(entry);
  }
  if (fits) return;
  used_ = used;  // discards a partial list
  num_entries_ = num_entries;
  drop();
}

void ValueBuffer::clear() {
  used_ = 0;
  num_entries_ = 0;
  dropped_ = 0;
}

bool ValueBuffer::add_entry(const Entry& entry) {
  if (num_entries_ == max_entries_) return false;
  entries_[num_entries_++] = entry;
  return true;
}

uint64_t ValueBuffer::reserve(size_t bytes) {
  const size_t begin = round_up(used_, kAlignment);
  if (!range_fits(begin, bytes, max_bytes_)) return Entry::kNoData;
  std::memset(data_.get() + used_, 0, begin - used_);
  used_ = begin + bytes;
  return begin;
}

bool ValueBuffer::add_tensor(Entry entry, const Tensor& tensor,
                             const TracedQuantization* quantization) {
  if (!tensor.is_readable()) return true;
  entry.kind = Kind::kTensor;
  entry.dtype = tensor.dtype();
  entry.rank = static_cast<uint8_t>(tensor.rank());
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), entry.sizes.begin());
  std::copy(tensor.strides().begin(), tensor.strides().end(), entry.strides.begin());
  size_t bytes = tensor.nbytes();
  if (bytes == 0) return add_entry(entry);
  if (quantization != nullptr) {
    entry.quantized_dtype = tensor.dtype();
    entry.quantized_rows = quantization->rows;
    entry.scale = quantization->scale(0);
    entry.zero_point = quantization->zero_point(0);
    entry.dtype = ScalarType::kFloat;
    if (mul_overflows(bytes, sizeof(float), &bytes)) return false;
  }
  const bool summarizes = content_ == Content::kSummaries;
  if (summarizes && !can_summarize(tensor.dtype())) return true;
  const uint64_t offset = reserve(summarizes ? sizeof(ValueSummary) : bytes);
  if (offset == Entry::kNoData) return false;
  (summarizes ? entry.summary_offset : entry.offset) = offset;
  if (!add_entry(entry)) return false;
  std::byte* const to = data_.get() + offset;
  if (summarizes) {
    const ValueSummary summary = summarize(tensor, quantization);
    std::memcpy(to, &summary, sizeof summary);
  } else if (quantization != nullptr) {
    dequantize(tensor, *quantization, reinterpret_cast<float*>(to));
  } else {
    std::memcpy(to, tensor.raw_data(), bytes);
  }
  return true;
}

ValueSummary ValueBuffer::summary(const Entry& entry) const {
  ValueSummary summary;
  std::memcpy(&summary, data_.get() + entry.summary_offset, sizeof summary);
  return summary;
}

bool ValueBuffer::add_list(Entry entry, const EValue& list) {
  std::span<Tensor* const> tensors;
  if (!list.read_tensor_list(&tensors)) return true;
  entry.kind = Kind::kTensorList;
  entry.list_size = 0;
  const size_t head = num_entries_;
  if (!add_entry(entry)) return false;
  for (const Tensor* tensor : tensors) {
    if (tensor != nullptr && !add_tensor(entry, *tensor, nullptr)) return false;
  }
  entries_[head].list_size = num_entries_ - head - 1;
  return true;
}

}  // namespace vitrine
