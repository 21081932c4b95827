#include "devtools/etdump/etdump_writer.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devtools/etdump/extensions.h"
#include "schema/etdump_generated.h"

namespace vitrine {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::etdump;

// Upper bounds of what the builder takes for an event and a block, without their texts.
constexpr uint64_t kMaxEventBytes = 128;
constexpr uint64_t kMaxBlockBytes = 256;

constexpr std::string_view kNamespaceMark = "::";

// Registered by hand in ExecuTorch, hence without the wrapper that logs native_call_.
bool is_prim_op(std::string_view name) {
  return name.starts_with("executorch_prim::") || name == "aten::sym_size.int" ||
         name == "aten::_local_scalar_dense";
}

std::string_view without_namespace(std::string_view name) {
  const size_t mark = name.find(kNamespaceMark);
  return mark == std::string_view::npos ? name : name.substr(mark + kNamespaceMark.size());
}

std::string_view text(const char* zero_terminated) {
  return zero_terminated == nullptr ? std::string_view() : std::string_view(zero_terminated);
}

std::string_view metadata_of(const TraceRecord& record) {
  return record.metadata == nullptr ? std::string_view()
                                    : std::string_view(record.metadata, record.metadata_size);
}

class Writer {
 public:
  fb::DetachedBuffer write(const TraceBuffer& trace) {
    std::vector<fb::Offset<wire::RunData>> blocks;
    for (const TraceBuffer::Block& block : trace.blocks()) {
      for (const TraceRecord& record : trace.records(block)) add(record);
      if (block.dropped != 0) add_count(etdump::kDroppedRecords, block.dropped);
      blocks.push_back(end_block(block.name));
    }
    if (trace.dropped_blocks() != 0) {
      uint64_t dropped = trace.dropped();
      for (const TraceBuffer::Block& block : trace.blocks()) dropped -= block.dropped;
      add_count(etdump::kDroppedBlocks, trace.dropped_blocks());
      add_count(etdump::kDroppedRecords, dropped);
      blocks.push_back(end_block(etdump::kDroppedBlock));
    }
    builder_.FinishSizePrefixed(wire::CreateETDump(builder_, 0, builder_.CreateVector(blocks)),
                                wire::ETDumpIdentifier());
    return builder_.Release();
  }

 private:
  void add(const TraceRecord& record) {
    using Kind = TraceRecord::Kind;
    switch (record.kind) {
      case Kind::kScope: {
        TraceRecord scope = record;
        scope.chain_index = kUnsetChainIndex;
        scope.instruction_id = kUnsetInstructionId;
        return add_event(scope, text(record.name), "");
      }
      case Kind::kKernelCall:
        return add_kernel_call(record);
      case Kind::kDelegateCall:
        return add_event(record, "DELEGATE_CALL", text(record.name));
      case Kind::kDelegateOperator:
        return add_delegate_operator(record);
      case Kind::kMove:
        return add_event(record, "MOVE_CALL", "");
      case Kind::kJumpFalse:
        return add_event(record, "JF_CALL", "");
      case Kind::kFree:
        return add_event(record, "FREE_CALL", "");
    }
  }

  void add_kernel_call(const TraceRecord& record) {
    const std::string_view name = text(record.name);
    if (!is_prim_op(name)) {
      name_ = "native_call_";
      name_ += without_namespace(name);
      add_event(record, name_, "");
    }
    name_ = name;
    if (const std::string_view library = metadata_of(record); !library.empty()) {
      name_ += ' ';
      name_ += library;
    }
    add_event(record, "OPERATOR_CALL", name_);
  }

  void add_delegate_operator(const TraceRecord& record) {
    const bool has_int_id = record.delegate_debug_id != kUnsetDelegateDebugId;
    const auto metadata = bytes(metadata_of(record));
    fb::Offset<fb::String> id = 0;
    if (!has_int_id) id = builder_.CreateSharedString(text(record.name));
    add_event(wire::CreateProfileEvent(builder_, 0, record.chain_index, record.instruction_id,
                                       record.delegate_debug_id, id, metadata, record.start_ns,
                                       record.end_ns));
  }

  // Empty metadata is left out: only delegate events always have some.
  void add_event(const TraceRecord& record, std::string_view name, std::string_view metadata) {
    const auto name_offset = builder_.CreateSharedString(name.data(), name.size());
    fb::Offset<fb::Vector<uint8_t>> metadata_offset = 0;
    if (!metadata.empty()) metadata_offset = shared_bytes(metadata);
    add_event(wire::CreateProfileEvent(builder_, name_offset, record.chain_index,
                                       record.instruction_id, kUnsetDelegateDebugId, 0,
                                       metadata_offset, record.start_ns, record.end_ns));
  }

  void add_event(fb::Offset<wire::ProfileEvent> event) {
    events_.push_back(wire::CreateEvent(builder_, event));
  }

  void add_count(const char* name, uint64_t count) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "%" PRIu64, count);
    add_event(TraceRecord{}, name, digits.data());
  }

  fb::Offset<wire::RunData> end_block(const char* name) {
    const auto name_offset = builder_.CreateSharedString(text(name));
    const auto events = builder_.CreateVector(events_);
    const auto allocators = builder_.CreateVector(std::vector<fb::Offset<wire::Allocator>>());
    events_.clear();
    return wire::CreateRunData(builder_, name_offset, -1, allocators, events);
  }

  fb::Offset<fb::Vector<uint8_t>> bytes(std::string_view data) {
    const auto [entry, is_new] = by_address_.try_emplace({data.data(), data.size()});
    if (is_new) entry->second = create_bytes(data);
    return entry->second;
  }

  // For texts composed here, whose addresses mean nothing.
  fb::Offset<fb::Vector<uint8_t>> shared_bytes(std::string_view data) {
    const auto [entry, is_new] = by_text_.try_emplace(std::string(data));
    if (is_new) entry->second = create_bytes(data);
    return entry->second;
  }

  fb::Offset<fb::Vector<uint8_t>> create_bytes(std::string_view data) {
    uint8_t* copy = nullptr;
    const auto offset = builder_.CreateUninitializedVector<uint8_t>(data.size(), &copy);
    if (!data.empty()) std::memcpy(copy, data.data(), data.size());
    return offset;
  }

  fb::FlatBufferBuilder builder_;
  std::vector<fb::Offset<wire::Event>> events_;  // of the block being written
  std::map<std::pair<const char*, size_t>, fb::Offset<fb::Vector<uint8_t>>> by_address_;
  std::map<std::string, fb::Offset<fb::Vector<uint8_t>>> by_text_;
  std::string name_;
};

// No sharing assumed.
uint64_t largest_size(const TraceBuffer& trace) {
  uint64_t size = 2 * kMaxBlockBytes;
  for (const TraceBuffer::Block& block : trace.blocks()) {
    size += kMaxBlockBytes;
    for (const TraceRecord& record : trace.records(block)) {
      size += 2 * (kMaxEventBytes + text(record.name).size()) + record.metadata_size;
    }
  }
  return size;
}

}  // namespace

Result<flatbuffers::DetachedBuffer> write_etdump(const TraceBuffer& trace) {
  const uint64_t size = largest_size(trace);
  if (size > FLATBUFFERS_MAX_BUFFER_SIZE) {
    return Error::make(ErrorCode::kOutOfResources,
                       "the trace may take %" PRIu64
                       " bytes and a flatbuffer holds 2 GiB at most: trace fewer runs",
                       size);
  }
  return Writer().write(trace);
}

}  // namespace vitrine
