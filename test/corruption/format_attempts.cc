#include "test/corruption/format_attempts.h"

#include <cstdlib>
#include <vector>

#include "formats/bundled_program/bundled_program.h"
#include "formats/delegates/delegate_reader.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "formats/etrecord/record_members.h"
#include "test/support/program_builder.h"
#include "vitrine/flat_tensor.h"

namespace vitrine::test {
namespace {

// The debug buffers of all samples are smaller than this.
constexpr size_t kDebugBufferBytes = 4096;

// Reads every byte, so that AddressSanitizer checks all of them.
size_t checksum(std::span<const std::byte> bytes) {
  size_t sum = 0;
  for (const std::byte byte : bytes) sum = sum * 31 + static_cast<size_t>(byte);
  return sum;
}

}  // namespace

std::string attempt_etdump(std::span<const std::byte> bytes) try {
  etdump::EtDump dump = etdump::parse_etdump(bytes, "file");
  etdump::attach_debug_data(dump, std::vector<std::byte>(kDebugBufferBytes), "data");
  for (const etdump::Block& block : dump.blocks) {
    for (const etdump::DebugEvent& event : block.debug_events) {
      if (const auto* tensor = std::get_if<etdump::DebugTensor>(&event.value)) {
        static_cast<void>(etdump::row_major_bytes(*tensor));
      }
      if (const auto* list = std::get_if<std::vector<etdump::DebugTensor>>(&event.value)) {
        for (const auto& tensor : *list) static_cast<void>(etdump::row_major_bytes(tensor));
      }
    }
  }
  return "";
} catch (const etdump::EtDumpError& error) {
  return error.what();
}

std::string attempt_etrecord(std::span<const std::byte> bytes) {
  try {
    // These functions may reject files that parse_etrecord() accepts, so their errors are ignored.
    const etrecord::RecordMembers members = etrecord::parse_record_members(bytes, "file");
    static_cast<void>(etrecord::write_etrecord(members));
  } catch (const FormatError&) {
  }
  try {
    static_cast<void>(etrecord::parse_etrecord(bytes, "file"));
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

std::string attempt_bundled_program(std::span<const std::byte> bytes) {
  bundled::BundledProgram bundle;
  try {
    bundle = bundled::parse_bundled_program(bytes, "file");
  } catch (const bundled::BundledProgramError& error) {
    return error.what();
  }
  volatile size_t sum = checksum(bundle.program);
  for (const bundled::TestSuite& suite : bundle.suites) {
    for (const bundled::TestSet& set : suite.sets) {
      for (const auto* values : {&set.inputs, &set.expected_outputs}) {
        for (const bundled::BundledValue& value : *values) {
          const auto* tensor = std::get_if<bundled::BundledTensor>(&value);
          if (tensor != nullptr) sum = sum + checksum(tensor->data);
        }
      }
    }
  }
  try {
    const std::vector<std::byte> written = bundled::write_bundled_program(bundle);
    if (bundled::parse_bundled_program(written).suites.size() != bundle.suites.size()) std::abort();
  } catch (const bundled::BundledProgramError&) {
    // The writer is stricter than the reader: it rejects expected outputs that are not tensors, and
    // methods without a name.
  }
  return "";
}

std::string attempt_foreign_payload(std::span<const std::byte> bytes) try {
  const bool is_known = delegates::recognize_payload(bytes) != nullptr;
  const delegates::PayloadDescription payload = delegates::describe_payload({.bytes = bytes});
  for (const delegates::PayloadGraph& graph : payload.graphs) {
    for (const delegates::PayloadOperator& op : graph.operators) {
      for (const auto* tensors : {&op.inputs, &op.outputs}) {
        for (const size_t tensor : *tensors) {
          if (tensor >= payload.tensors.size()) std::abort();
        }
      }
    }
  }
  return is_known ? "" : "no identifier";
} catch (const FormatError& error) {
  return error.what();
}

std::string attempt_flat_tensor(std::span<const std::byte> bytes) {
  const AlignedBytes aligned(bytes.begin(), bytes.end());
  const auto map = load_flat_tensor(*view_buffer(aligned));
  if (!map.ok()) return map.error().message();
  volatile size_t sum = 0;
  for (size_t i = 0; i < (*map)->size(); ++i) {
    const std::string_view key = (*map)->key(i);
    const auto data = (*map)->get(key);
    const auto layout = (*map)->layout(key);
    // load_flat_tensor() has verified all entries, so get() and layout() must succeed.
    if (!data.ok() || !layout.ok()) std::abort();
    sum = sum + checksum(data->bytes());
  }
  return "";
}

}  // namespace vitrine::test
