#include "tools/common/stripped_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "formats/etrecord/embedded_record.h"
#include "runtime/platform/vector_size.h"
#include "runtime/program/program_access.h"
#include "tools/common/tool_error.h"
#include "vitrine/extended_header.h"

namespace vitrine::tools {
namespace {

namespace fbs = schema::program;

// Positions of fields in the extended header (docs/formats/program.md).
constexpr size_t kHeaderLengthAt = 12;
constexpr size_t kSegmentBytesAt = 32;
constexpr uint32_t kLengthWithSegmentBytes = 32;

[[noreturn]] void refuse(const std::string& reason) {
  throw ToolError(fmt::format("the record cannot be removed: {}", reason));
}

// Returns the largest power of two that divides the offset.
uint64_t alignment_of(uint64_t offset) { return offset & (~offset + 1); }

uint64_t round_up_to(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Changes a u64 field of a table. Throws ToolError if the table lacks the field and `value` is not
// the default 0.
template <class Table>
void set_field(const Table* table, flatbuffers::voffset_t field, uint64_t value) {
  auto* mutable_table = reinterpret_cast<flatbuffers::Table*>(const_cast<Table*>(table));
  if (!mutable_table->SetField<uint64_t>(field, value, 0)) {
    refuse("its entry in the list of segments lacks a field");
  }
}

class Stripper {
 public:
  Stripper(std::span<const std::byte> file, uint32_t entry)
      : file_(file),
        header_(*check(read_extended_header(file.first<kProgramHeadBytes>()))),
        entry_(entry) {
    if (header_.segment_base < header_.program_size || header_.segment_base > file.size()) {
      refuse("its segments overlap the rest of the program");
    }
    const auto head = file.first(static_cast<size_t>(header_.segment_base));
    head_.assign(head.begin(), head.end());
    root_ = fbs::GetProgram(head_.data());
    record_ = root_->named_data()->Get(entry)->segment_index();
  }

  std::span<const std::byte> strip(const std::function<void(std::span<const std::byte>)>& sink) {
    refuse_other_uses();
    plan_moves();
    const fbs::DataSegment& segment = *root_->segments()->Get(record_);
    const auto record = segment_bytes(segment.offset(), segment.size());
    change_head();
    sink(head_);
    sink(segment_bytes(0, kept_));
    uint64_t written = kept_;
    for (const Move& move : moves_) {
      const std::vector<std::byte> padding(static_cast<size_t>(move.to - written));
      sink(padding);
      sink(segment_bytes(move.from, move.size));
      written = move.to + move.size;
    }
    return record;
  }

 private:
  // A segment after the record. Offsets are relative to header_.segment_base.
  struct Move {
    uint32_t index;
    uint64_t from;
    uint64_t size;
    uint64_t to;
  };

  std::span<const std::byte> segment_bytes(uint64_t offset, uint64_t size) const {
    return file_.subspan(static_cast<size_t>(header_.segment_base + offset),
                         static_cast<size_t>(size));
  }

  void refuse_other_uses() const {
    const auto check_use = [this](uint32_t segment, const char* use) {
      if (segment == record_) refuse(fmt::format("its segment also holds {}", use));
    };
    if (const auto* constants = root_->constant_segment();
        constants != nullptr && size_of(constants->offsets()) != 0) {
      check_use(constants->segment_index(), "constants");
    }
    for (uint32_t i = 0; i < size_of(root_->mutable_data_segments()); ++i) {
      check_use(root_->mutable_data_segments()->Get(i)->segment_index(), "initial state");
    }
    for (const fbs::ExecutionPlan* plan : *root_->execution_plan()) {
      for (uint32_t i = 0; i < size_of(plan->delegates()); ++i) {
        const auto& payload = *plan->delegates()->Get(i)->processed();
        if (payload.location() == fbs::DataLocation::SEGMENT)
          check_use(payload.index(), "a payload");
      }
    }
    for (uint32_t i = 0; i < size_of(root_->named_data()); ++i) {
      if (i != entry_) check_use(root_->named_data()->Get(i)->segment_index(), "other named data");
    }
  }

  void plan_moves() {
    const fbs::DataSegment& record = *root_->segments()->Get(record_);
    const uint64_t end = record.offset() + record.size();
    for (uint32_t i = 0; i < root_->segments()->size(); ++i) {
      const fbs::DataSegment& segment = *root_->segments()->Get(i);
      const uint64_t segment_end = segment.offset() + segment.size();
      if (i == record_) continue;
      if (segment_end <= record.offset()) {
        kept_ = std::max(kept_, segment_end);
      } else {
        moves_.push_back({i, segment.offset(), segment.size(), 0});
      }
    }
    std::ranges::sort(moves_, {}, [](const Move& move) { return std::pair(move.from, move.size); });
    uint64_t end_before = end;
    uint64_t written = kept_;
    for (Move& move : moves_) {
      if (move.from < end_before) refuse(fmt::format("segment {} overlaps another", move.index));
      end_before = move.from + move.size;
      const uint64_t place = header_.segment_base + written;
      const uint64_t aligned =
          round_up_to(place, alignment_of(header_.segment_base + move.from)) - header_.segment_base;
      move.to = std::min(move.from, aligned);
      written = move.to + move.size;
    }
    segment_bytes_ = written;
  }

  // The record's segment stays with size 0, so that other segments keep their indices.
  void change_head() {
    set_segment(record_, kept_, 0);
    for (const Move& move : moves_) set_segment(move.index, move.to, move.size);
    remove_entry();
    uint32_t length = 0;
    std::memcpy(&length, head_.data() + kHeaderLengthAt, sizeof length);
    if (length >= kLengthWithSegmentBytes) {
      std::memcpy(head_.data() + kSegmentBytesAt, &segment_bytes_, sizeof segment_bytes_);
    }
  }

  void set_segment(uint32_t index, uint64_t offset, uint64_t size) {
    const fbs::DataSegment* segment = root_->segments()->Get(index);
    set_field(segment, fbs::DataSegment::VT_OFFSET, offset);
    set_field(segment, fbs::DataSegment::VT_SIZE, size);
  }

  // Removes the record from the list of named data. Each item of the list stores the distance from
  // the item to its data. Items after the record move toward the start, so their distances grow by
  // an item's size.
  void remove_entry() {
    constexpr uint32_t kItem = sizeof(flatbuffers::uoffset_t);
    const uint32_t count = root_->named_data()->size();
    auto* length = reinterpret_cast<std::byte*>(
        const_cast<flatbuffers::Vector<flatbuffers::Offset<fbs::NamedData>>*>(root_->named_data()));
    const auto item = [length](uint32_t index) {
      return reinterpret_cast<uint8_t*>(length + size_t{kItem} * (1 + size_t{index}));
    };
    for (uint32_t i = entry_; i + 1 < count; ++i) {
      flatbuffers::WriteScalar(
          item(i), flatbuffers::ReadScalar<flatbuffers::uoffset_t>(item(i + 1)) + kItem);
    }
    flatbuffers::WriteScalar(item(count - 1), flatbuffers::uoffset_t{0});
    flatbuffers::WriteScalar(reinterpret_cast<uint8_t*>(length), count - 1);
  }

  std::span<const std::byte> file_;
  ExtendedHeader header_;
  std::vector<std::byte> head_;         // everything before the segments
  const fbs::Program* root_ = nullptr;  // points into head_
  uint32_t entry_;                      // index in the list of named data
  uint32_t record_ = 0;                 // index of its segment
  uint64_t kept_ = 0;                   // the end of the segments before the record
  std::vector<Move> moves_;
  uint64_t segment_bytes_ = 0;  // afterward
};

}  // namespace

std::optional<std::span<const std::byte>> strip_record(
    const Program& program, std::span<const std::byte> file,
    const std::function<void(std::span<const std::byte>)>& sink) {
  const auto* named = ProgramAccess::root(program).named_data();
  for (uint32_t i = 0; i < size_of(named); ++i) {
    if (named->Get(i)->key()->string_view() != etrecord::kEmbeddedRecordKey) continue;
    return Stripper(file, i).strip(sink);
  }
  return std::nullopt;
}

}  // namespace vitrine::tools
