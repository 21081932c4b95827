#include "formats/etrecord/record_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/zip_archive.h"
#include "formats/etrecord/archive_writer.h"
#include "formats/etrecord/member_names.h"

namespace vitrine::etrecord {
namespace {

constexpr uint64_t kMaxMemberBytes = uint64_t{2} << 30;

using Text = std::optional<std::string> RecordMembers::*;
struct OptionalMember {
  const char* name;
  Text text;
};
constexpr std::array<OptionalMember, 5> kOptionalMembers = {{
    {kDelegateMap, &RecordMembers::delegate_map},
    {kNumOutputsMap, &RecordMembers::num_outputs_map},
    {kReferenceOutputs, &RecordMembers::reference_outputs},
    {kRepresentativeInputs, &RecordMembers::representative_inputs},
    {kExportGraphId, &RecordMembers::export_graph_id},
}};

using SideFile = std::string ProgramMembers::*;
constexpr std::array<std::pair<const char*, SideFile>, 3> kSideFileFields = {{
    {kStateDict, &ProgramMembers::state_dict},
    {kConstants, &ProgramMembers::constants},
    {kExampleInputs, &ProgramMembers::example_inputs},
}};

bool is_side_file(std::string_view member) {
  return std::ranges::any_of(kSideFiles, [&](auto suffix) { return member.ends_with(suffix); });
}

class MembersReader {
 public:
  explicit MembersReader(const ZipArchive& archive) : archive_(archive) {}

  RecordMembers read() {
    if (!archive_.has(kIdentifier)) {
      throw FormatError(fmt::format("{}: has no member {}: this is not an ETRecord",
                                    archive_.source(), kIdentifier));
    }
    result_.digest = text(kIdentifier);
    for (const std::string& member : archive_.names()) read_member(member);
    if (result_.debug_handle_map.empty()) fail(kHandleMap, "is missing");
    if (result_.edge_programs.empty()) fail(kEdgeProgram, "is missing");
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(std::string_view member, std::string_view what) const {
    throw FormatError(fmt::format("{}: {}: {}", archive_.source(), member, what));
  }

  void read_member(const std::string& member) {
    if (member == kIdentifier || is_side_file(member)) return;
    if (member == kHandleMap) {
      result_.debug_handle_map = text(member);
      return;
    }
    for (const OptionalMember& optional : kOptionalMembers) {
      if (member == optional.name) {
        result_.*optional.text = text(member);
        return;
      }
    }
    if (member == kExportedProgram) {
      result_.exported_program = program(member);
    } else if (member == kEdgeProgram) {  // records up to 1.1
      result_.edge_programs[kOnlyMethod] = program(member);
    } else if (member.starts_with(std::string(kEdgeProgram) + "/")) {
      result_.edge_programs[member.substr(sizeof kEdgeProgram)] = program(member);
    } else {
      result_.other_programs[member] = program(member);
    }
  }

  std::string text(const std::string& member) const {
    return archive_.read_checked(member, kMaxMemberBytes);
  }

  ProgramMembers program(const std::string& member) const {
    ProgramMembers result;
    result.program = text(member);
    for (const auto& [suffix, field] : kSideFileFields) {
      if (!archive_.has(member + suffix)) {
        fail(member, fmt::format("has no {}{}", member, suffix));
      }
      result.*field = text(member + suffix);
    }
    return result;
  }

  const ZipArchive& archive_;
  RecordMembers result_;
};

void add_program(ArchiveWriter& archive, const std::string& name, const ProgramMembers& program) {
  archive.add(name, program.program);
  for (const auto& [suffix, field] : kSideFileFields) archive.add(name + suffix, program.*field);
}

void check_name(const std::string& name) {
  for (const std::string_view reserved : kReserved) {
    if (name.find(reserved) != std::string::npos) {
      throw FormatError(fmt::format(
          "cannot write a record: the name {} contains {}, which is reserved", name, reserved));
    }
  }
  // The name must have the form name/method, because ExecuTorch would append a method to any other
  // name. A name with the suffix of a side file would make readers take the program for a side
  // file.
  if (name.find('/') == std::string::npos || is_side_file(name)) {
    throw FormatError(
        fmt::format("cannot write a record: {} is not of the form name/method, or has a suffix "
                    "that is reserved",
                    name));
  }
}

// Returns JSON of the form {method: {"instruction": value}}. make(method, json) fills in the object
// of one method.
template <class Make>
std::string map_json(const std::map<std::string, MethodRecord, std::less<>>& methods, Make make) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, method] : methods) {
    json[name] = nlohmann::json::object();
    make(method, json[name]);
  }
  return json.dump();
}

}  // namespace

RecordMembers read_record_members(const std::filesystem::path& file) {
  return MembersReader(ZipArchive::open(file)).read();
}

RecordMembers parse_record_members(std::span<const std::byte> bytes, std::string_view source) {
  return MembersReader(ZipArchive({bytes, nullptr}, std::string(source))).read();
}

std::vector<std::byte> write_etrecord(const RecordMembers& members) {
  if (members.edge_programs.empty() || members.debug_handle_map.empty()) {
    throw FormatError("cannot write a record without an edge program and a debug handle map");
  }
  ArchiveWriter archive;
  archive.add(kIdentifier, members.digest);
  if (members.exported_program) add_program(archive, kExportedProgram, *members.exported_program);
  for (const auto& [method, program] : members.edge_programs) {
    if (is_side_file(method)) {
      throw FormatError(
          fmt::format("cannot write a record: method {} has a suffix that is reserved", method));
    }
    add_program(archive, fmt::format("{}/{}", kEdgeProgram, method), program);
  }
  for (const auto& [name, program] : members.other_programs) {
    check_name(name);
    add_program(archive, name, program);
  }
  archive.add(kHandleMap, members.debug_handle_map);
  for (const OptionalMember& optional : kOptionalMembers) {
    if (const auto& text = members.*optional.text) archive.add(optional.name, *text);
  }
  return archive.finish();
}

std::string debug_handle_map_json(const std::map<std::string, MethodRecord, std::less<>>& methods) {
  return map_json(methods, [](const MethodRecord& method, nlohmann::json& to) {
    for (const auto& [instruction, handles] : method.handles_of_instruction) {
      nlohmann::json& entry = to[std::to_string(instruction)];
      if (handles.size() == 1 && !method.delegates.contains(instruction)) {
        entry = handles[0];
      } else {
        entry = handles;
      }
    }
  });
}

std::string delegate_map_json(const std::map<std::string, MethodRecord, std::less<>>& methods) {
  return map_json(methods, [](const MethodRecord& method, nlohmann::json& to) {
    for (const auto& [instruction, delegate] : method.delegates) {
      nlohmann::json handles = nlohmann::json::object();
      for (const auto& [id, of_id] : delegate.handles_of_id) handles[id] = of_id;
      to[std::to_string(instruction)] = {{"name", delegate.backend}, {"delegate_map", handles}};
    }
  });
}

std::string num_outputs_map_json(const std::map<std::string, MethodRecord, std::less<>>& methods) {
  return map_json(methods, [](const MethodRecord& method, nlohmann::json& to) {
    for (const auto& [instruction, count] : method.num_outputs) {
      to[std::to_string(instruction)] = count;
    }
  });
}

}  // namespace vitrine::etrecord
