#include "formats/etrecord/etrecord.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/json.h"
#include "base/zip_archive.h"
#include "formats/etrecord/edge_graph.h"
#include "formats/etrecord/member_names.h"

namespace vitrine::etrecord {
namespace {

constexpr uint64_t kMaxMapBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxDigestBytes = 64;
constexpr uint64_t kMaxProgramBytes = uint64_t{256} << 20;

// Returns the method whose edge program the member contains. Empty for other members.
std::string method_of(std::string_view member) {
  if (!member.starts_with(kEdgeProgram)) return "";
  for (const std::string_view suffix : kSideFiles) {
    if (member.ends_with(suffix)) return "";
  }
  const std::string_view rest = member.substr(std::string_view(kEdgeProgram).size());
  if (rest.empty()) return kOnlyMethod;
  return rest.front() == '/' ? std::string(rest.substr(1)) : "";
}

int32_t parse_instruction(const std::string& text, const JsonValue& value) {
  int32_t instruction = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), instruction);
  if (error != std::errc() || end != text.data() + text.size() || instruction < 0) {
    value.fail("the key is not an instruction index");
  }
  return instruction;
}

std::vector<DebugHandle> parse_handles(const JsonValue& value) {
  std::vector<DebugHandle> handles;
  if (value.is_list()) {
    value.each_item([&](const JsonValue& item) { handles.push_back(item.integer<DebugHandle>()); });
  } else {
    handles.push_back(value.integer<DebugHandle>());
  }
  return handles;
}

DelegateEntry parse_delegate(const JsonValue& value) {
  DelegateEntry entry;
  if (value.holds("name")) entry.backend = value.at("name").string();
  if (!value.holds("delegate_map")) return entry;
  value.at("delegate_map").each_member([&](const std::string& id, const JsonValue& handles) {
    entry.handles_of_id[id] = parse_handles(handles);
  });
  return entry;
}

class RecordReader {
 public:
  explicit RecordReader(const ZipArchive& archive) : archive_(archive) {}

  EtRecord read() {
    if (!archive_.has(kIdentifier)) {
      throw FormatError(fmt::format("{}: has no member {}: this is not an ETRecord",
                                    archive_.source(), kIdentifier));
    }
    if (archive_.size_of(kIdentifier) <= kMaxDigestBytes) {
      record_.digest = archive_.read_checked(kIdentifier, kMaxDigestBytes);
    }
    read_map(kHandleMap, true,
             [](MethodRecord& method, int32_t instruction, const JsonValue& value) {
               method.handles_of_instruction[instruction] = parse_handles(value);
             });
    read_map(kDelegateMap, false,
             [](MethodRecord& method, int32_t instruction, const JsonValue& value) {
               method.delegates[instruction] = parse_delegate(value);
             });
    read_map(kNumOutputsMap, false,
             [](MethodRecord& method, int32_t instruction, const JsonValue& value) {
               method.num_outputs[instruction] = value.integer<int64_t>();
             });
    read_programs();
    return std::move(record_);
  }

 private:
  // Reads a member of the form {method: {"instruction": value}}.
  template <class Read>
  void read_map(const std::string& member, bool is_required, Read read_value) {
    if (!is_required && !archive_.has(member)) return;
    const std::string location = fmt::format("{}: {}", archive_.source(), member);
    const JsonDocument document(archive_.read_checked(member, kMaxMapBytes), location);
    if (document.root().is_null() && !is_required) return;
    document.root().each_member([&](const std::string& name, const JsonValue& instructions) {
      MethodRecord& method = record_.methods[name];
      if (instructions.is_null()) return;
      instructions.each_member([&](const std::string& instruction, const JsonValue& value) {
        read_value(method, parse_instruction(instruction, value), value);
      });
    });
  }

  void read_programs() {
    bool found = false;
    for (const std::string& member : archive_.names()) {
      const std::string name = method_of(member);
      if (name.empty()) continue;
      found = true;
      record_.methods[name].graph =
          parse_edge_program(archive_.read_checked(member, kMaxProgramBytes),
                             fmt::format("{}: {}", archive_.source(), member));
    }
    if (!found) {
      throw FormatError(fmt::format("{}: has no edge program (member {} or {}/<method>)",
                                    archive_.source(), kEdgeProgram, kEdgeProgram));
    }
  }

  const ZipArchive& archive_;
  EtRecord record_;
};

}  // namespace

EtRecord read_etrecord(const std::filesystem::path& file) {
  return RecordReader(ZipArchive::open(file)).read();
}

EtRecord parse_etrecord(std::span<const std::byte> bytes, std::string_view source) {
  return RecordReader(ZipArchive({bytes, nullptr}, std::string(source))).read();
}

}  // namespace vitrine::etrecord
