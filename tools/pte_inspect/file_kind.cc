#include "tools/pte_inspect/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/zip_archive.h"
#include "host/tool_error.h"

namespace vitrine::tools {
namespace {

struct Identifier {
  size_t offset;
  std::string_view text;
  FileKind kind;
};
constexpr Identifier kIdentifiers[] = {
    {4, "ET12", FileKind::kProgram},      {4, "BP08", FileKind::kBundledProgram},
    {4, "FT01", FileKind::kNamedData},    {4, "ED00", FileKind::kTrace},
    {8, "ED00", FileKind::kTrace},        {4, "XH00", FileKind::kXnnpackBlob},
    {4, "XN00", FileKind::kXnnpackBlob},  {4, "XN01", FileKind::kXnnpackBlob},
    {0, "PK\x03\x04", FileKind::kRecord},  // or a model: see below
};

struct KindName {
  FileKind kind;
  const char* name;
};
constexpr KindName kNames[] = {
    {FileKind::kProgram, "program (.pte)"},
    {FileKind::kBundledProgram, "bundled program (.bpte)"},
    {FileKind::kNamedData, "named data (.ptd)"},
    {FileKind::kTrace, "trace (ETDump)"},
    {FileKind::kXnnpackBlob, "XNNPACK delegate payload"},
    {FileKind::kRecord, "record (ETRecord)"},
    {FileKind::kExportedModel, "exported model (.pt2)"},
};

FileKind kind_of_archive(std::span<const std::byte> bytes, const std::string& name) {
  const ZipArchive archive({bytes, nullptr}, name);
  if (archive.has("ETRECORD_V0")) return FileKind::kRecord;
  const bool is_model = std::ranges::any_of(archive.names(), [](std::string_view member) {
    return member.ends_with("/archive_format") || member == "serialized_exported_program.json";
  });
  if (is_model) return FileKind::kExportedModel;
  throw ToolError(fmt::format(
      "{}: a zip archive, but neither an ETRecord (no member ETRECORD_V0) nor a .pt2 (no member "
      "archive_format or serialized_exported_program.json)",
      name));
}

std::string first_bytes(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes.first(std::min<size_t>(bytes.size(), 12))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned>(byte));
  }
  return text;
}

}  // namespace

FileKind kind_of_file(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.empty()) throw ToolError(fmt::format("{}: the file is empty", name));
  for (const Identifier& known : kIdentifiers) {
    const size_t end = known.offset + known.text.size();
    if (bytes.size() < end ||
        std::memcmp(bytes.data() + known.offset, known.text.data(), known.text.size()) != 0) {
      continue;
    }
    return known.kind == FileKind::kRecord ? kind_of_archive(bytes, name) : known.kind;
  }
  throw ToolError(
      fmt::format("{}: bytes 0 to 11 ({}) are not a known identifier: .pte ET12, .bpte "
                  "BP08, .ptd FT01, ETDump ED00, XNNPACK payload XH00 or XN01, ETRecord and .pt2 "
                  "are zip archives. Is it truncated, or of another kind?",
                  name, first_bytes(bytes)));
}

const char* kind_name(FileKind kind) {
  const auto* found = std::ranges::find(kNames, kind, &KindName::kind);
  return found->name;
}

}  // namespace vitrine::tools
