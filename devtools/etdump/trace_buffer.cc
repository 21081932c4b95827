#include "devtools/etdump/trace_buffer.h"

#include <new>

namespace vitrine {

TraceBuffer::TraceBuffer(size_t max_records, size_t max_blocks)
    // Value-initialised: the pages are touched here, not inside a timed step.
    : records_(new (std::nothrow) TraceRecord[max_records]()),
      blocks_(new (std::nothrow) Block[max_blocks]()) {
  if (records_ == nullptr || blocks_ == nullptr) return;
  max_records_ = max_records;
  max_blocks_ = max_blocks;
}

void TraceBuffer::begin_block(const char* name) {
  if (num_blocks_ == max_blocks_) {
    current_ = nullptr;
    ++dropped_blocks_;
    return;
  }
  current_ = &blocks_[num_blocks_++];
  *current_ = {.name = name, .first = num_records_, .count = 0, .dropped = 0};
}

void TraceBuffer::record(const TraceRecord& record) {
  if (current_ == nullptr && num_blocks_ == 0 && dropped_blocks_ == 0) begin_block("Default");
  if (current_ == nullptr) {
    ++dropped_;
  } else if (num_records_ == max_records_) {
    ++dropped_;
    ++current_->dropped;
  } else {
    records_[num_records_++] = record;
    ++current_->count;
  }
}

void TraceBuffer::clear() {
  num_records_ = 0;
  num_blocks_ = 0;
  current_ = nullptr;
  dropped_ = 0;
  dropped_blocks_ = 0;
}

}  // namespace vitrine
