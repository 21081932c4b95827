// ETDump bytes -> plain structs (docs/formats/etdump.md).
//
// Reads what this project and stock ExecuTorch write, with or without size prefix. The bytes are
// untrusted: they are verified first, and an EtDumpError names what is wrong and where. Host side.
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

inline constexpr int32_t kUnset = -1;  // chain index, delegate integer id, bundled input index

// Text below belongs to EtDump::bytes (or to whoever filled the struct in): it is gone with the
// last copy of the EtDump.
struct ProfileEvent {
  std::string_view name = {};  // empty for delegate events
  int32_t chain_index = kUnset;
  int32_t instruction_id = 0;  // means something only if chain_index is set
  int32_t delegate_debug_id = kUnset;
  std::string_view delegate_debug_name = {};  // the string identifier
  std::string_view metadata = {};             // bytes; mostly text
  uint64_t start = 0;  // ticks; nanoseconds of CLOCK_MONOTONIC in our own dumps
  uint64_t end = 0;

  bool is_delegate_event() const {
    return delegate_debug_id != kUnset || !delegate_debug_name.empty();
  }
  bool is_in_instruction() const { return chain_index != kUnset; }
};

struct AllocationEvent {
  std::string_view allocator = {};
  uint64_t size = 0;    // bytes
  size_t position = 0;  // among all events of its block
};

// A value that was logged. The data of tensors are in a separate buffer: attach_debug_data().
struct DebugEvent {
  int64_t chain_index = 0;  // kUnset outside of instructions
  int32_t instruction_id = kUnset;
  int32_t delegate_debug_id = kUnset;
  std::string_view delegate_debug_name = {};
  std::string_view name = {};
  bool is_output = false;  // of the method
  DebugValue value = {};
  size_t position = 0;  // among all events of its block
};

struct Block {
  std::string_view name = {};  // "Default", "Execute", or the application's
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

// Gives every tensor in `dump` its data out of the debug buffer of the same runs. An EtDumpError
// names the event whose tensor does not lie in the buffer; the dump is then as it was.
void attach_debug_data(EtDump& dump, std::span<const std::byte> bytes,
                       std::string_view source = "debug buffer");
void read_debug_data(EtDump& dump, const std::filesystem::path& file);

}  // namespace vitrine::etdump
