// Reads and writes all members of an ETRecord archive, for tools that write, copy or repack
// records. Reads the layouts of ExecuTorch 0.5 to 1.4 (docs/formats/etrecord.md) and writes the
// newest layout. Does not parse serialized programs or torch.save archives. Host side.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/etrecord/etrecord.h"

namespace vitrine::etrecord {

// A serialized ExportedProgram. The side files are torch.save archives. ExecuTorch's reader treats
// an empty side file as an archive without objects.
struct ProgramMembers {
  std::string program;  // JSON
  std::string state_dict = {};
  std::string constants = {};
  std::string example_inputs = {};

  bool operator==(const ProgramMembers&) const = default;
};

struct RecordMembers {
  std::string digest;                                    // digest as in EtRecord::digest
  std::map<std::string, ProgramMembers> edge_programs;   // by method; at least one
  std::optional<ProgramMembers> exported_program;        // the program "forward" in the ATen
                                                         // dialect
  std::map<std::string, ProgramMembers> other_programs;  // by name, such as
                                                         // "edge_after_transform/forward"
  // JSON texts in the form that the functions below write.
  std::string debug_handle_map;
  std::optional<std::string> delegate_map;
  std::optional<std::string> num_outputs_map;
  std::optional<std::string> export_graph_id;
  // Archives that torch.save wrote, or plain pickles in records of ExecuTorch 0.7 and earlier.
  std::optional<std::string> reference_outputs;
  std::optional<std::string> representative_inputs;

  bool operator==(const RecordMembers&) const = default;
};

// Reads all members of a record. Throws FormatError if a member is missing, repeated, or larger
// than the limits in docs/formats/etrecord.md. Does not check the contents of members.
RecordMembers read_record_members(const std::filesystem::path& file);
RecordMembers parse_record_members(std::span<const std::byte> bytes,
                                   std::string_view source = "ETRecord");

// Writes the archive in the newest layout. Members have a fixed timestamp, so equal records produce
// equal bytes. Throws FormatError if the edge program or the debug handle map is missing, or if a
// name is reserved.
std::vector<std::byte> write_etrecord(const RecordMembers& members);

// Each function returns one map of the record as JSON. A single handle of a kernel call is written
// as a number; the handles of a delegate call are always written as a list.
std::string debug_handle_map_json(const std::map<std::string, MethodRecord, std::less<>>& methods);
std::string delegate_map_json(const std::map<std::string, MethodRecord, std::less<>>& methods);
std::string num_outputs_map_json(const std::map<std::string, MethodRecord, std::less<>>& methods);

}  // namespace vitrine::etrecord
