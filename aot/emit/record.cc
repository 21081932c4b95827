#include "aot/emit/record.h"

#include <variant>

#include "aot/emit/source_program.h"
#include "aot/graph/aot_error.h"
#include "formats/etrecord/record_members.h"

namespace vitrine::aot {
namespace {

etrecord::MethodRecord record_of(const MethodDebugInfo& info) {
  etrecord::MethodRecord record;
  for (const auto& [instruction, handles] : info.handles) {
    record.handles_of_instruction[static_cast<int32_t>(instruction)] = handles;
  }
  for (const auto& [instruction, delegate] : info.delegates) {
    etrecord::DelegateEntry& entry = record.delegates[static_cast<int32_t>(instruction)];
    entry.backend = delegate.backend_id;
    for (const auto& [identifier, handles] : delegate.map) {
      const auto* number = std::get_if<uint32_t>(&identifier);
      entry.handles_of_id[number != nullptr ? std::to_string(*number)
                                            : std::get<std::string>(identifier)] = handles;
    }
  }
  for (const auto& [instruction, count] : info.num_outputs) {
    record.num_outputs[static_cast<int32_t>(instruction)] = count;
  }
  return record;
}

std::vector<std::byte> write(const Methods& programs, const DebugInfo& debug_info,
                             const std::string& digest, const SourceProgramOptions& options) {
  etrecord::RecordMembers members;
  members.digest = digest;
  for (const auto& [name, program] : programs) {
    members.edge_programs[name].program = source_program_json(program, options);
  }
  std::map<std::string, etrecord::MethodRecord, std::less<>> records;
  for (const auto& [name, info] : debug_info) records[name] = record_of(info);
  members.debug_handle_map = etrecord::debug_handle_map_json(records);
  members.delegate_map = etrecord::delegate_map_json(records);
  members.num_outputs_map = etrecord::num_outputs_map_json(records);
  try {
    return etrecord::write_etrecord(members);
  } catch (const FormatError& error) {
    throw AotError(error.what());
  }
}

}  // namespace

std::vector<std::byte> write_record(const Methods& edge_programs, const DebugInfo& debug_info,
                                    const std::string& digest) {
  return write(edge_programs, debug_info, digest, {});
}

std::vector<std::byte> write_embedded_record(const Methods& methods, const DebugInfo& debug_info) {
  return write(methods, debug_info, {}, {.flat = true, .ancestors = false});
}

}  // namespace vitrine::aot
