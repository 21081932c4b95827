#include "formats/etdump/etdump_writer.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/etdump/extensions.h"
#include "formats/etdump/value_origin.h"
#include "schema/etdump_generated.h"

namespace vitrine {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::etdump;

// Maximum bytes of an event, a block and a value in the file, without the strings of the trace.
constexpr uint64_t kMaxEventBytes = 128;
constexpr uint64_t kMaxBlockBytes = 256;
constexpr uint64_t kMaxValueBytes = 512 + 2 * kMaxRank * sizeof(int64_t);

constexpr int64_t kNoDebugData = -1;

constexpr std::string_view kNamespaceMark = "::";

// True for operators that ExecuTorch registers without the wrapper for native_call_ events.
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
      Entries values;
      if (trace.values() != nullptr) {
        values = trace.values()->entries().subspan(block.first_value, block.value_count);
      }
      const auto add_values_before = [&](size_t record) {
        while (!values.empty() && values.front().record <= record) values = add_value(values);
      };
      const std::span<const TraceRecord> records = trace.records(block);
      for (size_t i = 0; i < records.size(); ++i) {
        add_values_before(i);
        add(records[i]);
      }
      add_values_before(records.size());
      if (block.dropped != 0) add_count(etdump::kDroppedRecords, block.dropped);
      if (block.dropped_values != 0) add_count(etdump::kDroppedValues, block.dropped_values);
      blocks.push_back(end_block(block.name, block.bundled_input_index));
    }
    if (trace.dropped_blocks() != 0) {
      uint64_t dropped = trace.dropped();
      for (const TraceBuffer::Block& block : trace.blocks()) dropped -= block.dropped;
      add_count(etdump::kDroppedBlocks, trace.dropped_blocks());
      add_count(etdump::kDroppedRecords, dropped);
      blocks.push_back(end_block(etdump::kDroppedBlock, TraceBuffer::kNoBundledInput));
    }
    builder_.FinishSizePrefixed(wire::CreateETDump(builder_, 0, builder_.CreateVector(blocks)),
                                wire::ETDumpIdentifier());
    return builder_.Release();
  }

 private:
  using Entry = ValueBuffer::Entry;
  using Entries = std::span<const Entry>;

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

  // Adds a profile event. Omits the field for metadata if `metadata` is empty.
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

  // Writes the first value in `entries`, and returns the entries that follow the value. A list
  // takes several entries: its own entry, and an entry for each item.
  Entries add_value(Entries entries) {
    const Entry& entry = entries.front();
    Entries rest = entries.subspan(1);
    fb::Offset<wire::Value> value;
    switch (entry.kind) {
      case Entry::Kind::kTensor:
        value = wire::CreateValue(builder_, wire::ValueType::Tensor, tensor(entry), 0, 0, 0, 0, 0,
                                  output_mark(entry));
        break;
      case Entry::Kind::kTensorList: {
        tensors_.clear();
        for (const Entry& item : rest.first(entry.list_size)) tensors_.push_back(tensor(item));
        rest = rest.subspan(entry.list_size);
        const auto list = wire::CreateTensorList(builder_, builder_.CreateVector(tensors_));
        value = wire::CreateValue(builder_, wire::ValueType::TensorList, 0, list, 0, 0, 0, 0,
                                  output_mark(entry));
        break;
      }
      case Entry::Kind::kInt:
        value = wire::CreateValue(builder_, wire::ValueType::Int, 0, 0,
                                  wire::CreateInt(builder_, entry.integer));
        break;
      case Entry::Kind::kDouble: {
        // FlatBuffers would omit -0.0, because it compares equal to the default 0.0.
        builder_.ForceDefaults(std::signbit(entry.real));
        const auto number = wire::CreateDouble(builder_, entry.real);
        builder_.ForceDefaults(false);
        value = wire::CreateValue(builder_, wire::ValueType::Double, 0, 0, 0, 0, number);
        break;
      }
      case Entry::Kind::kBool:
        value = wire::CreateValue(builder_, wire::ValueType::Bool, 0, 0, 0, 0, 0,
                                  wire::CreateBool(builder_, entry.boolean));
        break;
    }
    add_debug_event(entry, value);
    return rest;
  }

  fb::Offset<wire::Tensor> tensor(const Entry& entry) {
    std::array<int64_t, kMaxRank> sizes{};
    std::copy_n(entry.sizes.begin(), entry.rank, sizes.begin());
    const auto sizes_offset = builder_.CreateVector(sizes.data(), entry.rank);
    const auto strides_offset = builder_.CreateVector(entry.strides.data(), entry.rank);
    // At most one offset is set, because a summary replaces the tensor's data. An unset offset is
    // kNoData, the largest uint64_t, so min() selects the other offset.
    const uint64_t position = std::min(entry.offset, entry.summary_offset);
    const int64_t offset =
        position == Entry::kNoData ? kNoDebugData : static_cast<int64_t>(position);
    return wire::CreateTensor(builder_, static_cast<schema::ScalarType>(entry.dtype), sizes_offset,
                              strides_offset, offset);
  }

  fb::Offset<wire::Bool> output_mark(const Entry& entry) {
    return entry.source.is_method_output ? wire::CreateBool(builder_, true)
                                         : fb::Offset<wire::Bool>();
  }

  // A value that was logged outside instructions has chain index -1. The unsigned field stores -1
  // as 2^64 - 1, like stock runtimes on 64-bit devices.
  void add_debug_event(const Entry& entry, fb::Offset<wire::Value> value) {
    const TracedValue& source = entry.source;
    fb::Offset<fb::String> id = 0;
    fb::Offset<fb::String> name = 0;
    if (source.operator_index != TracedValue::kNoOperator) {
      name = builder_.CreateString(format_origin(entry));
    }
    if (source.delegate_debug_name != nullptr) {
      id = builder_.CreateSharedString(source.delegate_debug_name);
    }
    const auto chain = static_cast<uint64_t>(int64_t{source.chain_index});
    events_.push_back(
        wire::CreateEvent(builder_, 0, 0,
                          wire::CreateDebugEvent(builder_, chain, source.instruction_id, value,
                                                 source.delegate_debug_id, id, name)));
  }

  static std::string format_origin(const Entry& entry) {
    etdump::ValueOrigin origin{.op = static_cast<size_t>(entry.source.operator_index),
                               .result = entry.source.result,
                               .stored_as = {}};
    if (entry.quantized_rows != 0) {
      origin.stored_as = {entry.quantized_dtype, entry.quantized_rows, entry.scale,
                          entry.zero_point};
    }
    return etdump::format_origin(origin);
  }

  void add_count(const char* name, uint64_t count) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "%" PRIu64, count);
    add_event(TraceRecord{}, name, digits.data());
  }

  fb::Offset<wire::RunData> end_block(const char* name, int32_t bundled_input_index) {
    const auto name_offset = builder_.CreateSharedString(text(name));
    const auto events = builder_.CreateVector(events_);
    const auto allocators = builder_.CreateVector(std::vector<fb::Offset<wire::Allocator>>());
    events_.clear();
    return wire::CreateRunData(builder_, name_offset, bundled_input_index, allocators, events);
  }

  // Writes a text unless a text with the same address and length was written. Does not detect equal
  // texts at different addresses.
  fb::Offset<fb::Vector<uint8_t>> bytes(std::string_view data) {
    const auto [entry, is_new] = by_address_.try_emplace({data.data(), data.size()});
    if (is_new) entry->second = create_bytes(data);
    return entry->second;
  }

  // Writes each text once. Compares contents, because texts that this writer composes may have the
  // same address.
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
  std::vector<fb::Offset<wire::Event>> events_;  // events of the block being written
  std::vector<fb::Offset<wire::Tensor>> tensors_;
  std::map<std::pair<const char*, size_t>, fb::Offset<fb::Vector<uint8_t>>> by_address_;
  std::map<std::string, fb::Offset<fb::Vector<uint8_t>>> by_text_;
  std::string name_;
};

// Returns an upper bound on the file's size in bytes. A shared text counts once for each use.
uint64_t max_size(const TraceBuffer& trace) {
  uint64_t size = 2 * kMaxBlockBytes;
  for (const TraceBuffer::Block& block : trace.blocks()) {
    size += kMaxBlockBytes;
    for (const TraceRecord& record : trace.records(block)) {
      size += 2 * (kMaxEventBytes + text(record.name).size()) + record.metadata_size;
    }
  }
  if (trace.values() == nullptr) return size;
  for (const ValueBuffer::Entry& entry : trace.values()->entries()) {
    size += kMaxValueBytes + text(entry.source.delegate_debug_name).size();
  }
  return size;
}

}  // namespace

Result<std::vector<uint8_t>> write_etdump(const TraceBuffer& trace) {
  const uint64_t size = max_size(trace);
  if (size > FLATBUFFERS_MAX_BUFFER_SIZE) {
    return Error::make(ErrorCode::kOutOfResources,
                       "the trace may need %" PRIu64
                       " bytes, but a flatbuffer holds at most 2 GiB: trace fewer runs",
                       size);
  }
  const fb::DetachedBuffer bytes = Writer().write(trace);
  return std::vector<uint8_t>(bytes.data(), bytes.data() + bytes.size());
}

}  // namespace vitrine
