// A bounded buffer for trace records that does not allocate while recording.
//
// Records that do not fit are dropped, and each block counts its dropped records. Not thread-safe.
// Records point to strings of kernels and delegates (vitrine/event_tracer.h), so serialize the
// trace before the kernels and delegates are destroyed.
//
//   TraceBuffer trace;
//   ...                                // run with &trace as the tracer
//   auto bytes = write_etdump(trace);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/extension/value_buffer.h"
#include "vitrine/value_tracer.h"

namespace vitrine {

class TraceBuffer final : public ValueTracer {
 public:
  struct Block {
    const char* name = nullptr;
    size_t first = 0;
    size_t count = 0;
    uint64_t dropped = 0;    // records that did not fit
    size_t first_value = 0;  // index in ValueBuffer::entries()
    size_t value_count = 0;
    uint64_t dropped_values = 0;
    int32_t bundled_input_index = kNoBundledInput;
  };

  static constexpr int32_t kNoBundledInput = -1;

  static constexpr size_t kDefaultRecords = size_t{1} << 16;  // 4 MiB; 900 runs of 70 operators
  static constexpr size_t kDefaultBlocks = size_t{1} << 12;   // 128 KiB

  // If the allocation fails, the capacities are 0 and all records count as dropped. `values` gets
  // the outputs of all instructions. `values` may be null, and must outlive this object.
  explicit TraceBuffer(size_t max_records = kDefaultRecords, size_t max_blocks = kDefaultBlocks,
                       ValueBuffer* values = nullptr);

  void begin_block(const char* name) override;
  // Before the first block begins, records go to the block "Default".
  void record(const TraceRecord& record) override;
  void record_operators(const TracedOperators& all) override;
  bool wants_values() const override { return values_ != nullptr; }
  void record_value(const TracedValue& value) override;

  // Sets the test set of a bundled program for all later blocks.
  void set_bundled_input_index(int32_t index) { bundled_input_index_ = index; }

  // Discards all records, but keeps the memory.
  void clear();

  std::span<const Block> blocks() const { return {blocks_.get(), num_blocks_}; }
  std::span<const TraceRecord> records(const Block& block) const {
    return {records_.get() + block.first, block.count};
  }

  // Null if values are not kept.
  const ValueBuffer* values() const { return values_; }

  // Number of records that did not fit, including the records of blocks that did not fit.
  uint64_t dropped() const { return dropped_; }
  uint64_t dropped_blocks() const { return dropped_blocks_; }
  size_t max_records() const { return max_records_; }
  size_t max_blocks() const { return max_blocks_; }

 private:
  std::unique_ptr<TraceRecord[]> records_;
  std::unique_ptr<Block[]> blocks_;
  size_t max_records_ = 0;
  size_t max_blocks_ = 0;
  size_t num_records_ = 0;
  size_t num_blocks_ = 0;
  Block* current_ = nullptr;  // null before the first block and in a dropped block
  uint64_t dropped_ = 0;
  uint64_t dropped_blocks_ = 0;
  ValueBuffer* values_ = nullptr;
  int32_t bundled_input_index_ = kNoBundledInput;
};

}  // namespace vitrine
