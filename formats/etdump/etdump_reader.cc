#include "formats/etdump/etdump_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/platform/table_verifier.h"
#include "schema/etdump_generated.h"
#include "schema/etdump_shapes.h"
#include "vitrine/tensor.h"

namespace vitrine::etdump {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::etdump;

constexpr size_t kPrefixBytes = sizeof(fb::uoffset_t);
constexpr size_t kIdentifierOffset = sizeof(fb::uoffset_t);  // follows the root offset
constexpr uint32_t kKnownVersion = 0;

// The smallest size of a table, in bytes. A file with more than (file size / kMinTableBytes)
// references to tables must share tables, so a small file could expand to a large trace. The reader
// rejects such files.
constexpr size_t kMinTableBytes = 8;

std::string_view text(const fb::String* string) {
  return string == nullptr ? std::string_view() : std::string_view(string->c_str(), string->size());
}

std::string_view text(const fb::Vector<uint8_t>* bytes) {
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

ProfileEvent profile_event(const wire::ProfileEvent& event) {
  return {.name = text(event.name()),
          .chain_index = event.chain_index(),
          .instruction_id = event.instruction_id(),
          .delegate_debug_id = event.delegate_debug_id_int(),
          .delegate_debug_name = text(event.delegate_debug_id_str()),
          .metadata = text(event.delegate_debug_metadata()),
          .start = event.start_time(),
          .end = event.end_time()};
}

template <class T>
std::vector<T> copy(const fb::Vector<T>* from) {
  return from == nullptr ? std::vector<T>() : std::vector<T>(from->begin(), from->end());
}

// Returns the number of bytes that a tensor spans in memory. Returns nullopt if this number
// overflows or is smaller than the total size of the elements. Overlapping elements could expand a
// small buffer to a large tensor.
std::optional<uint64_t> extent_of(const DebugTensor& tensor) {
  uint64_t numel = 1;
  uint64_t last = 0;  // index of the last element in memory
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] == 0) return 0;
  }
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    const auto size = static_cast<uint64_t>(tensor.sizes[i]);
    uint64_t reach = 0;
    if (mul_overflows(numel, size, &numel) ||
        mul_overflows(size - 1, static_cast<uint64_t>(tensor.strides[i]), &reach) ||
        add_overflows(last, reach, &last)) {
      return std::nullopt;
    }
  }
  uint64_t bytes = 0;
  if (add_overflows(last, 1u, &last) || numel > last ||
      mul_overflows(last, element_size(tensor.dtype), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

// Calls visit(tensor, block index, event index) for each tensor in the dump.
template <class Visit>
void for_each_tensor(EtDump& dump, Visit visit) {
  for (size_t b = 0; b < dump.blocks.size(); ++b) {
    for (DebugEvent& event : dump.blocks[b].debug_events) {
      if (auto* tensor = std::get_if<DebugTensor>(&event.value)) visit(*tensor, b, event.position);
      if (auto* list = std::get_if<std::vector<DebugTensor>>(&event.value)) {
        for (DebugTensor& tensor : *list) visit(tensor, b, event.position);
      }
    }
  }
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view source)
      : bytes_(bytes), source_(source) {}

  std::vector<Block> read() const {
    const wire::ETDump& dump = verified();
    if (dump.version() != kKnownVersion) {
      fail("version",
           fmt::format("is {}; this reader supports version {}", dump.version(), kKnownVersion));
    }
    std::vector<Block> blocks;
    if (dump.run_data() == nullptr) return blocks;
    for (const wire::RunData* data : *dump.run_data())
      blocks.push_back(block(*data, blocks.size()));
    return blocks;
  }

 private:
  [[noreturn]] void fail(std::string_view location, std::string_view what) const {
    throw EtDumpError(fmt::format("{}: {}: {}", source_, location, what));
  }

  bool has_identifier_at(size_t offset) const {
    const std::string_view identifier = wire::ETDumpIdentifier();
    return bytes_.size() >= offset + identifier.size() &&
           std::memcmp(bytes_.data() + offset, identifier.data(), identifier.size()) == 0;
  }

  const wire::ETDump& verified() const {
    std::span<const std::byte> buffer = bytes_;
    const bool has_prefix = has_identifier_at(kPrefixBytes + kIdentifierOffset);
    if (has_prefix) {
      fb::uoffset_t size = 0;
      std::memcpy(&size, bytes_.data(), sizeof size);
      size = fb::EndianScalar(size);
      if (size > bytes_.size() - kPrefixBytes) {
        fail("size prefix", fmt::format("announces {} bytes, but {} follow: the file is truncated",
                                        size, bytes_.size() - kPrefixBytes));
      }
      buffer = bytes_.first(kPrefixBytes + size);
    } else if (!has_identifier_at(kIdentifierOffset)) {
      fail("identifier", "no \"ED00\" at byte 8 or 4: this is not an ETDump");
    }
    if (buffer.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) fail("size", "is 2 GiB or more");
    Budget steps(buffer.size() / kMinTableBytes);
    // Fields are aligned relative to the start of the file, which includes the size prefix.
    if (!verify_tables(buffer, wire::kTableShapes, steps, has_prefix ? kPrefixBytes : 0)) {
      fail("flatbuffer", "does not verify: the file is damaged or truncated");
    }
    return has_prefix ? *wire::GetSizePrefixedETDump(buffer.data())
                      : *wire::GetETDump(buffer.data());
  }

  Block block(const wire::RunData& data, size_t index) const {
    Block block{.name = text(data.name()),
                .bundled_input_index = data.bundled_input_index(),
                .allocators = {},
                .profile_events = {},
                .allocation_events = {},
                .debug_events = {}};
    if (data.allocators() != nullptr) {
      for (const wire::Allocator* allocator : *data.allocators()) {
        block.allocators.push_back(text(allocator->name()));
      }
    }
    if (data.events() == nullptr) return block;
    for (fb::uoffset_t i = 0; i < data.events()->size(); ++i) {
      const wire::Event& event = *data.events()->Get(i);
      const int kinds = (event.profile_event() != nullptr) + (event.allocation_event() != nullptr) +
                        (event.debug_event() != nullptr);
      if (kinds != 1) {
        fail(fmt::format("run_data[{}].events[{}]", index, i),
             fmt::format("has {} kinds of event; expected one: profile, allocation or debug",
                         kinds));
      }
      if (const auto* profile = event.profile_event()) {
        block.profile_events.push_back(profile_event(*profile));
      } else if (const auto* debug = event.debug_event()) {
        block.debug_events.push_back(
            debug_event(*debug, fmt::format("run_data[{}].events[{}].debug_event", index, i)));
        block.debug_events.back().position = i;
      } else {
        block.allocation_events.push_back(
            allocation_event(data, *event.allocation_event(), index, i));
        block.allocation_events.back().position = i;
      }
    }
    return block;
  }

  AllocationEvent allocation_event(const wire::RunData& data, const wire::AllocationEvent& event,
                                   size_t block, fb::uoffset_t index) const {
    const fb::uoffset_t count = data.allocators() == nullptr ? 0 : data.allocators()->size();
    const int64_t id = event.allocator_id();  // 1-based
    if (id < 1 || id > count) {
      fail(fmt::format("run_data[{}].events[{}].allocation_event.allocator_id", block, index),
           fmt::format("is {}; the block has {} allocators, counted from 1", id, count));
    }
    return {.allocator = text(data.allocators()->Get(static_cast<fb::uoffset_t>(id - 1))->name()),
            .size = event.allocation_size()};
  }

  DebugEvent debug_event(const wire::DebugEvent& event, const std::string& location) const {
    const wire::Value* value = event.debug_entry();
    const bool is_output =
        value != nullptr && value->output() != nullptr && value->output()->bool_val();
    // Stock runtimes store -1 as an unsigned value of 32 or 64 bits.
    const uint64_t chain = event.chain_index();
    const bool is_unset = chain == UINT64_MAX || chain == UINT32_MAX;
    if (!is_unset && chain > INT64_MAX) fail(location, fmt::format("chain_index is {}", chain));
    return {
        .chain_index = is_unset ? kUnset : static_cast<int64_t>(chain),
        .instruction_id = event.instruction_id(),
        .delegate_debug_id = event.delegate_debug_id_int(),
        .delegate_debug_name = text(event.delegate_debug_id_str()),
        .name = text(event.name()),
        .is_output = is_output,
        .value = value == nullptr ? DebugValue() : debug_value(*value, location + ".debug_entry")};
  }

  DebugValue debug_value(const wire::Value& value, const std::string& location) const {
    const auto read = [&](const auto* field, const char* name) -> const auto& {
      if (field == nullptr)
        fail(location, fmt::format("has no {}, but its kind requires it", name));
      return *field;
    };
    switch (value.val()) {
      case wire::ValueType::Int:
        return read(value.int_value(), "int_value").int_val();
      case wire::ValueType::Bool:
        return read(value.bool_value(), "bool_value").bool_val();
      case wire::ValueType::Float:
        return read(value.float_value(), "float_value").float_val();
      case wire::ValueType::Double:
        return read(value.double_value(), "double_value").double_val();
      case wire::ValueType::Tensor:
        return debug_tensor(read(value.tensor(), "tensor"), location + ".tensor");
      case wire::ValueType::TensorList: {
        std::vector<DebugTensor> list;
        const auto* tensors = read(value.tensor_list(), "tensor_list").tensors();
        for (fb::uoffset_t i = 0; tensors != nullptr && i < tensors->size(); ++i) {
          list.push_back(
              debug_tensor(*tensors->Get(i), fmt::format("{}.tensor_list[{}]", location, i)));
        }
        return list;
      }
      case wire::ValueType::Null:
      case wire::ValueType::String:  // the format does not store the text of a String
        return {};
    }
    fail(location, fmt::format("has kind {}, which is unknown", static_cast<int>(value.val())));
  }

  DebugTensor debug_tensor(const wire::Tensor& from, const std::string& location) const {
    // Many tensors may share one long vector, so dimensions are counted before copying.
    const auto rank_of = [](const auto* vector) { return vector == nullptr ? 0 : vector->size(); };
    if (rank_of(from.sizes()) > kMaxRank || rank_of(from.sizes()) != rank_of(from.strides())) {
      fail(location,
           fmt::format("has {} sizes and {} strides; expected equal numbers of both, at most {}",
                       rank_of(from.sizes()), rank_of(from.strides()), kMaxRank));
    }
    DebugTensor tensor{.dtype = static_cast<ScalarType>(from.scalar_type()),
                       .sizes = copy(from.sizes()),
                       .strides = copy(from.strides()),
                       .offset = from.offset()};
    if (!is_valid(tensor.dtype)) fail(location + ".scalar_type", "is unknown");
    for (size_t i = 0; i < tensor.sizes.size(); ++i) {
      if (tensor.sizes[i] < 0 || tensor.strides[i] < 0) {
        fail(location,
             fmt::format("dimension {} has size {} and stride {}; neither may be negative", i,
                         tensor.sizes[i], tensor.strides[i]));
      }
    }
    const std::optional<uint64_t> extent = extent_of(tensor);
    if (!extent) fail(location, "the sizes and strides overflow, or elements overlap");
    if (*extent != 0 && tensor.offset < 0) fail(location + ".offset", "is negative");
    return tensor;
  }

  std::span<const std::byte> bytes_;
  std::string_view source_;
};

std::vector<std::byte> read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw EtDumpError(fmt::format("{}: cannot be opened", file.string()));
  std::vector<std::byte> bytes;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw EtDumpError(fmt::format("{}: {}", file.string(), error.message()));
  bytes.resize(static_cast<size_t>(size));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw EtDumpError(fmt::format("{}: cannot be read", file.string()));
  return bytes;
}

void attach(EtDump& dump, std::vector<std::byte> bytes, std::string_view source) {
  for_each_tensor(dump, [&](const DebugTensor& tensor, size_t block, size_t position) {
    const uint64_t extent = *extent_of(tensor);
    if (extent == 0 || range_fits(static_cast<uint64_t>(tensor.offset), extent, bytes.size())) {
      return;
    }
    throw EtDumpError(
        fmt::format("{}: run_data[{}].events[{}]: the tensor's {} bytes at offset {} reach beyond "
                    "the buffer's {} bytes",
                    source, block, position, extent, tensor.offset, bytes.size()));
  });
  dump.debug_data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  for_each_tensor(dump, [&](DebugTensor& tensor, size_t, size_t) {
    const auto extent = static_cast<size_t>(*extent_of(tensor));
    const size_t offset = extent == 0 ? 0 : static_cast<size_t>(tensor.offset);
    tensor.data = std::span(*dump.debug_data).subspan(offset, extent);
  });
}

EtDump parse(std::vector<std::byte> bytes, std::string_view source) {
  EtDump dump;
  dump.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  dump.blocks = Reader(*dump.bytes, source).read();
  return dump;
}

}  // namespace

EtDump parse_etdump(std::span<const std::byte> bytes, std::string_view source) {
  return parse({bytes.begin(), bytes.end()}, source);
}

EtDump read_etdump(const std::filesystem::path& file) {
  return parse(read_bytes(file), file.string());
}

void attach_debug_data(EtDump& dump, std::span<const std::byte> bytes, std::string_view source) {
  attach(dump, {bytes.begin(), bytes.end()}, source);
}

void read_debug_data(EtDump& dump, const std::filesystem::path& file) {
  attach(dump, read_bytes(file), file.string());
}

}  // namespace vitrine::etdump
