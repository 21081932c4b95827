#include "runtime/extension/trace_buffer.h"

#include <new>

namespace vitrine {
namespace {

// Prevents the compiler from loading several members with one wide load. A wide load would have to
// wait for the preceding stores of the members.
template <class T>
T load_alone(const T& member) {
  return static_cast<const volatile T&>(member);
}

TraceRecord copy_of(const TraceRecord& record) {
  return {.start_ns = load_alone(record.start_ns),
          .end_ns = load_alone(record.end_ns),
          .name = load_alone(record.name),
          .metadata = load_alone(record.metadata),
          .metadata_size = load_alone(record.metadata_size),
          .chain_index = load_alone(record.chain_index),
          .instruction_id = load_alone(record.instruction_id),
          .delegate_debug_id = load_alone(record.delegate_debug_id),
          .kind = load_alone(record.kind)};
}

}  // namespace

TraceBuffer::TraceBuffer(size_t max_records, size_t max_blocks, ValueBuffer* values)
    // Touches the pages here, not during a timed step.
    : records_(new (std::nothrow) TraceRecord[max_records]()),
      blocks_(new (std::nothrow) Block[max_blocks]()),
      values_(values) {
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
  *current_ = {.name = name,
               .first = num_records_,
               .first_value = values_ != nullptr ? values_->entries().size() : 0,
               .bundled_input_index = bundled_input_index_};
}

void TraceBuffer::record(const TraceRecord& record) {
  if (current_ == nullptr && num_blocks_ == 0 && dropped_blocks_ == 0) begin_block("Default");
  if (current_ == nullptr) {
    ++dropped_;
  } else if (num_records_ == max_records_) {
    ++dropped_;
    ++current_->dropped;
  } else {
    records_[num_records_++] = copy_of(record);
    ++current_->count;
  }
}

void TraceBuffer::record_operators(const TracedOperators& all) {
  const size_t count = all.operators.size();
  if (current_ == nullptr || count > max_records_ - num_records_) {
    return EventTracer::record_operators(all);
  }
  for (size_t i = 0; i < count; ++i) records_[num_records_ + i] = all.record(i);
  num_records_ += count;
  current_->count += count;
}

void TraceBuffer::record_value(const TracedValue& value) {
  if (values_ == nullptr) return;
  if (current_ == nullptr && num_blocks_ == 0 && dropped_blocks_ == 0) begin_block("Default");
  if (current_ == nullptr) return values_->drop();
  const uint64_t dropped = values_->dropped();
  values_->add(value, current_->count);
  current_->value_count = values_->entries().size() - current_->first_value;
  current_->dropped_values += values_->dropped() - dropped;
}

void TraceBuffer::clear() {
  if (values_ != nullptr) values_->clear();
  num_records_ = 0;
  num_blocks_ = 0;
  current_ = nullptr;
  dropped_ = 0;
  dropped_blocks_ = 0;
}

}  // namespace vitrine
