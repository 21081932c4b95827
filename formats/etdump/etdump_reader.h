// Reads the bytes of an ETDump of this project or of stock ExecuTorch into plain structs
// (docs/formats/etdump.md). The bytes are untrusted and are verified first; an EtDumpError names
// the file, the field and the error. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/host_error.h"
#include "formats/etdump/debug_value.h"

namespace vitrine::etdump {

class EtDumpError : public HostError {
 public:
  using HostError::HostError;
};

// Marks an unset chain index, delegate_debug_id or bundled input index, and an unset instruction_id
// of a DebugEvent.
inline constexpr int32_t kUnset = -1;

// The strings of these structs are views. parse_etdump() returns views of EtDump::bytes.
struct ProfileEvent {
  std::string_view name = {};  // empty for delegate events
  int32_t chain_index = kUnset;
  int32_t instruction_id = 0;  // valid only if chain_index is set
  int32_t delegate_debug_id = kUnset;
  std::string_view delegate_debug_name = {};  // string identifier
  std::string_view metadata = {};             // bytes, usually text
  uint64_t start = 0;  // ticks; nanoseconds of CLOCK_MONOTONIC in Vitrine's own dumps
  uint64_t end = 0;

  bool is_delegate_event() const {
    return delegate_debug_id != kUnset || !delegate_debug_name.empty();
  }
  bool is_in_instruction() const { return chain_index != kUnset; }
};

struct AllocationEvent {
  std::string_view allocator = {};
  uint64_t size = 0;    // in bytes
  size_t position = 0;  // position among all events of its block
};

// A logged value. Tensor data are in a separate buffer, which attach_debug_data() adds.
struct DebugEvent {
  int64_t chain_index = 0;  // kUnset outside instructions
  int32_t instruction_id = kUnset;
  int32_t delegate_debug_id = kUnset;
  std::string_view delegate_debug_name = {};
  std::string_view name = {};
  bool is_output = false;  // true for an output of the method
  DebugValue value = {};
  size_t position = 0;  // position among all events of its block
};

struct Block {
  std::string_view name = {};  // "Default", "Execute", or a name that the application chose
  int32_t bundled_input_index = kUnset;
  std::vector<std::string_view> allocators = {};
  std::vector<ProfileEvent> profile_events = {};  // in file order
  std::vector<AllocationEvent> allocation_events = {};
  std::vector<DebugEvent> debug_events = {};
};

struct EtDump {
  std::vector<Block> blocks;
  std::shared_ptr<const std::vector<std::byte>> bytes;
  std::shared_ptr<const std::vector<std::byte>> debug_data;  // null before attach_debug_data()
};

// `source` names the bytes in error messages.
EtDump parse_etdump(std::span<const std::byte> bytes, std::string_view source = "ETDump");
EtDump read_etdump(const std::filesystem::path& file);

// Copies `bytes`, the debug buffer of the dump, and makes the data of every tensor point into the
// copy. If a tensor extends past the end of the buffer, throws EtDumpError and leaves the dump
// unchanged.
void attach_debug_data(EtDump& dump, std::span<const std::byte> bytes,
                       std::string_view source = "debug buffer");
void read_debug_data(EtDump& dump, const std::filesystem::path& file);

}  // namespace vitrine::etdump
