#include "devtools/etdump/etdump_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "schema/etdump_generated.h"

namespace vitrine::etdump {
namespace {

namespace fb = ::flatbuffers;
namespace wire = ::vitrine::schema::etdump;

constexpr size_t kPrefixBytes = sizeof(fb::uoffset_t);
constexpr size_t kIdentifierOffset = sizeof(fb::uoffset_t);  // after the root offset
constexpr uint32_t kKnownVersion = 0;

// A table takes at least this much of a file that does not use one twice; more tables than that
// means that a small file tries to become a large trace.
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

DebugEvent debug_event(const wire::DebugEvent& event) {
  const wire::Value* value = event.debug_entry();
  return {
      .chain_index = event.chain_index(),
      .instruction_id = event.instruction_id(),
      .delegate_debug_id = event.delegate_debug_id_int(),
      .delegate_debug_name = text(event.delegate_debug_id_str()),
      .name = text(event.name()),
      .is_output = value != nullptr && value->output() != nullptr && value->output()->bool_val()};
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view source)
      : bytes_(bytes), source_(source) {}

  std::vector<Block> read() const {
    const wire::ETDump& dump = verified();
    if (dump.version() != kKnownVersion) {
      fail("version",
           fmt::format("is {}; this reader knows version {}", dump.version(), kKnownVersion));
    }
    std::vector<Block> blocks;
    if (dump.run_data() == nullptr) return blocks;
    for (const wire::RunData* data : *dump.run_data())
      blocks.push_back(block(*data, blocks.size()));
    return blocks;
  }

 private:
  [[noreturn]] void fail(std::string_view place, std::string_view what) const {
    throw EtDumpError(fmt::format("{}: {}: {}", source_, place, what));
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
        fail("size prefix", fmt::format("announces {} bytes, {} follow: the file is cut short",
                                        size, bytes_.size() - kPrefixBytes));
      }
      buffer = bytes_.first(kPrefixBytes + size);
    } else if (!has_identifier_at(kIdentifierOffset)) {
      fail("identifier", "no \"ED00\" at byte 8 or 4: this is not an ETDump");
    }
    if (buffer.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) fail("size", "is 2 GiB or more");
    const auto* data = reinterpret_cast<const uint8_t*>(buffer.data());
    const auto max_tables = static_cast<fb::uoffset_t>(buffer.size() / kMinTableBytes);
    fb::Verifier verifier(data, buffer.size(), 64, max_tables);
    // Fields are aligned to the start of the file, prefix included: the prefix must not be cut off.
    if (!(has_prefix ? wire::VerifySizePrefixedETDumpBuffer(verifier)
                     : wire::VerifyETDumpBuffer(verifier))) {
      fail("flatbuffer", "does not verify: the file is damaged or cut short");
    }
    return has_prefix ? *wire::GetSizePrefixedETDump(data) : *wire::GetETDump(data);
  }

  Block block(const wire::RunData& data, size_t index) const {
    Block block{.name = text(data.name()),
                .bundled_input_index = data.bundled_input_index(),
                .profile_events = {},
                .allocation_events = {},
                .debug_events = {}};
    if (data.events() == nullptr) return block;
    for (fb::uoffset_t i = 0; i < data.events()->size(); ++i) {
      const wire::Event& event = *data.events()->Get(i);
      const int kinds = (event.profile_event() != nullptr) + (event.allocation_event() != nullptr) +
                        (event.debug_event() != nullptr);
      if (kinds != 1) {
        fail(fmt::format("run_data[{}].events[{}]", index, i),
             fmt::format("has {} of profile, allocation and debug event; one is allowed", kinds));
      }
      if (const auto* profile = event.profile_event()) {
        block.profile_events.push_back(profile_event(*profile));
      } else if (const auto* debug = event.debug_event()) {
        block.debug_events.push_back(debug_event(*debug));
      } else {
        block.allocation_events.push_back(
            allocation_event(data, *event.allocation_event(), index, i));
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

  std::span<const std::byte> bytes_;
  std::string_view source_;
};

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
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw EtDumpError(fmt::format("{}: cannot be opened", file.string()));
  std::vector<std::byte> bytes;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw EtDumpError(fmt::format("{}: {}", file.string(), error.message()));
  bytes.resize(static_cast<size_t>(size));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw EtDumpError(fmt::format("{}: cannot be read", file.string()));
  return parse(std::move(bytes), file.string());
}

}  // namespace vitrine::etdump
