// A bounded, allocation-free place for trace records.
//
// All memory is taken by the constructor; recording copies one TraceRecord. What does not fit is
// counted, per block, and never overwrites what is there: a trace keeps its beginning. Not
// thread-safe: one thread records, and reads when the run is over. Records hold pointers to strings
// of kernels and delegates (runtime/trace/event_tracer.h), so serialise before those are gone.
//
//   TraceBuffer trace;
//   ... run with &trace as tracer ...
//   auto bytes = write_etdump(trace);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/trace/event_tracer.h"

namespace vitrine {

class TraceBuffer final : public EventTracer {
 public:
  struct Block {
    const char* name = nullptr;
    size_t first = 0;  // into the records
    size_t count = 0;
    uint64_t dropped = 0;  // records of this block that did not fit
  };

  static constexpr size_t kDefaultRecords = size_t{1} << 16;  // 4 MiB; 900 runs of 70 operators
  static constexpr size_t kDefaultBlocks = size_t{1} << 12;   // 128 KiB

  // If the memory cannot be had, the capacities are 0 and everything is counted as dropped.
  explicit TraceBuffer(size_t max_records = kDefaultRecords, size_t max_blocks = kDefaultBlocks);

  void begin_block(const char* name) override;
  // Before any block was begun, a record goes to the block "Default".
  void record(const TraceRecord& record) override;

  // Forgets all records, keeps the memory.
  void clear();

  std::span<const Block> blocks() const { return {blocks_.get(), num_blocks_}; }
  std::span<const TraceRecord> records(const Block& block) const {
    return {records_.get() + block.first, block.count};
  }

  // All records that did not fit: those of blocks() and those of blocks that did not fit either.
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
  Block* current_ = nullptr;  // null before the first block and in a block that did not fit
  uint64_t dropped_ = 0;
  uint64_t dropped_blocks_ = 0;
};

}  // namespace vitrine
