// A bounded buffer for copies or summaries of results that does not allocate while recording.
//
// A tensor's bytes are copied in memory order. Quantized tensors become f32 tensors. Values that do
// not fit are counted and dropped. data() is the debug buffer of the ETDump format. Tools write
// this buffer to a separate file, and the trace contains offsets into this file
// (docs/formats/etdump.md). Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/extension/value_summary.h"
#include "vitrine/event_tracer.h"
#include "vitrine/tensor.h"

namespace vitrine {

class ValueBuffer {
 public:
  struct Entry {
    enum class Kind : uint8_t {
      kInt,
      kDouble,
      kBool,
      kTensor,
      kTensorList,  // its tensors are the next list_size entries
    };
    // Offset of a tensor without elements. In a buffer of summaries, all tensors have this offset.
    static constexpr uint64_t kNoData = UINT64_MAX;

    TracedValue source;  // pointers to the value are null
    size_t record = 0;   // number of records of the block before this value
    Kind kind = Kind::kInt;
    union {
      int64_t integer = 0;
      double real;
      bool boolean;
      size_t list_size;
    };
    // The members below are used only for tensors. Strides are in elements.
    ScalarType dtype = ScalarType::kByte;
    uint8_t rank = 0;
    uint64_t offset = kNoData;  // into data(), a multiple of kAlignment
    uint64_t summary_offset = kNoData;
    std::array<int32_t, kMaxRank> sizes = {};
    std::array<int64_t, kMaxRank> strides = {};
    // The quantization of a tensor that became f32. `quantized_rows` is 0 for other tensors.
    // `scale` and `zero_point` belong to the first row.
    ScalarType quantized_dtype = ScalarType::kByte;
    size_t quantized_rows = 0;
    float scale = 0;
    int32_t zero_point = 0;
  };
  enum class Content : uint8_t {
    kValues,
    kSummaries,  // a ValueSummary of each tensor instead of the tensor's bytes
  };

  static constexpr size_t kAlignment = 64;
  static constexpr size_t kDefaultBytes = size_t{256} << 20;
  static constexpr size_t kDefaultEntries = size_t{1} << 16;

  // If the allocation fails, the capacities are 0 and all values count as dropped.
  explicit ValueBuffer(size_t max_bytes = kDefaultBytes, size_t max_entries = kDefaultEntries,
                       Content content = Content::kValues);

  // Adds numbers, tensors and lists of tensors. Ignores other values, and tensors without memory.
  // `record` is the number of records in the current block of the trace.
  void add(const TracedValue& value, size_t record);
  void drop() { ++dropped_; }
  // Discards all values, but keeps the memory.
  void clear();

  std::span<const Entry> entries() const { return {entries_.get(), num_entries_}; }
  std::span<const std::byte> data() const { return {data_.get(), used_}; }
  uint64_t dropped() const { return dropped_; }
  // Precondition: the buffer keeps summaries, and the entry is a tensor with elements.
  ValueSummary summary(const Entry& entry) const;

 private:
  bool add_entry(const Entry& entry);
  bool add_tensor(Entry entry, const Tensor& tensor, const TracedQuantization* quantization);
  // Reserves bytes at the next multiple of kAlignment and returns their offset. Fills the gap with
  // zeros. Returns kNoData if the bytes do not fit.
  uint64_t reserve(size_t bytes);
  bool add_list(Entry entry, const EValue& list);

  std::unique_ptr<std::byte[]> data_;
  std::unique_ptr<Entry[]> entries_;
  Content content_;
  size_t max_bytes_ = 0;
  size_t max_entries_ = 0;
  size_t used_ = 0;
  size_t num_entries_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace vitrine
