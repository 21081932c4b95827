#include "tools/common/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/zip_archive.h"
#include "formats/delegates/delegate_reader.h"
#include "formats/native/native_package.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

struct Identifier {
  size_t offset;
  std::string_view text;
  FileKind kind;
};
constexpr Identifier kIdentifiers[] = {
    {4, "ET12", FileKind::kProgram},
    {4, "BP08", FileKind::kBundledProgram},
    {4, "FT01", FileKind::kNamedData},
    {4, "ED00", FileKind::kTrace},
    {8, "ED00", FileKind::kTrace},
    {4, "XH00", FileKind::kXnnpackPayload},
    {4, "XN00", FileKind::kXnnpackPayload},
    {4, "XN01", FileKind::kXnnpackPayload},
    {0, "PK\x03\x04", FileKind::kArchive},
    {0, "\x93NUMPY", FileKind::kNumpyArray},
    {4, "TFL3", FileKind::kTfliteModel},
    {0, "GGUF", FileKind::kGguf},
    {0,
     "\x7f"
     "ELF",
     FileKind::kElf},
};

struct KindRow {
  FileKind kind;
  const char* name;
  const char* article;
  const char* advice;  // {0}: the file, {1}: the file with the extension .pte
};
constexpr KindRow kKinds[] = {
    {FileKind::kProgram, "program (.pte)", "a",
     "run it with 'vitrine run {0}', or describe it with 'vitrine inspect {0}'"},
    {FileKind::kBundledProgram, "bundled program (.bpte)", "a",
     "run it with 'vitrine run {0}', or check its outputs with 'vitrine verify {0}'"},
    {FileKind::kNamedData, "named data (.ptd)", "",
     "it has the weights of a program: give that program, and give this file with --data"},
    {FileKind::kTrace, "trace (ETDump)", "a", "show its profile with 'vitrine inspect {0}'"},
    {FileKind::kXnnpackPayload, "XNNPACK delegate payload", "an",
     "describe it with 'vitrine inspect {0}'"},
    {FileKind::kForeignPayload, "payload of another backend", "a",
     "describe it with 'vitrine inspect {0}'"},
    {FileKind::kRecord, "record (ETRecord)", "a", "give it with --etrecord, next to its program"},
    {FileKind::kExportedModel, "exported model (.pt2)", "an",
     "lower it with 'vitrine lower {0} --backend xnnpack -o {1}', or run it with 'vitrine run "
     "{0}'"},
    {FileKind::kNativeModel, "native model (.ptn)", "a",
     "lower it with 'vitrine lower {0} --backend xnnpack -o {1}', or run it with 'vitrine run "
     "{0}'"},
    {FileKind::kProfile, "stored profile (.json)", "a",
     "compare it with another one: 'vitrine compare {0} OTHER.json'"},
    {FileKind::kTokenProfile, "stored token profile (.json)", "a",
     "compare it with another one: 'vitrine compare {0} OTHER.json'"},
    {FileKind::kArchive, "zip archive without a model or record", "a",
     "if it is a checkpoint or a TorchScript model, export the model with torch.export.save"},
    {FileKind::kNumpyArray, "NumPy array (.npy)", "a", "give it with --inputs"},
    {FileKind::kTfliteModel, "TensorFlow Lite model (.tflite)", "a",
     "export the PyTorch model with torch.export.save instead"},
    {FileKind::kGguf, "GGUF model (.gguf)", "a",
     "export the PyTorch model with torch.export.save instead"},
    {FileKind::kElf, "compiled program or library (ELF)", "a",
     "give it with --load if it is a library of operators"},
};

const KindRow& row_of(FileKind kind) { return *std::ranges::find(kKinds, kind, &KindRow::kind); }

FileKind kind_of_archive(std::span<const std::byte> bytes) try {
  const ZipArchive archive({bytes, nullptr}, "archive");
  if (archive.has("ETRECORD_V0")) return FileKind::kRecord;
  if (archive.has(native::kGraphMember)) return FileKind::kNativeModel;
  const bool is_model = std::ranges::any_of(archive.names(), [](std::string_view member) {
    return member.ends_with("/archive_format") || member == "serialized_exported_program.json";
  });
  return is_model ? FileKind::kExportedModel : FileKind::kArchive;
} catch (const HostError&) {
  return FileKind::kArchive;
}

// The first members of a tool's JSON file determine the kind.
std::optional<FileKind> kind_of_json(std::span<const std::byte> bytes) {
  constexpr size_t kHeadBytes = 64;
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kHeadBytes));
  if (!head.starts_with('{')) return std::nullopt;
  if (head.find("\"schema_version\"") != std::string_view::npos) return FileKind::kProfile;
  const bool has_tokens = head.find("\"version\"") != std::string_view::npos &&
                          head.find("\"run\"") != std::string_view::npos;
  return has_tokens ? std::optional(FileKind::kTokenProfile) : std::nullopt;
}

std::string first_bytes(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes.first(std::min<size_t>(bytes.size(), 12))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned>(byte));
  }
  return text;
}

}  // namespace

std::optional<FileKind> find_file_kind(std::span<const std::byte> bytes) {
  for (const Identifier& known : kIdentifiers) {
    const size_t end = known.offset + known.text.size();
    if (bytes.size() < end ||
        std::memcmp(bytes.data() + known.offset, known.text.data(), known.text.size()) != 0) {
      continue;
    }
    return known.kind == FileKind::kArchive ? kind_of_archive(bytes) : known.kind;
  }
  if (const auto json = kind_of_json(bytes)) return json;
  if (delegates::recognize_payload(bytes) != nullptr) return FileKind::kForeignPayload;
  return std::nullopt;
}

FileKind kind_of_file(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.empty()) throw ToolError(fmt::format("{}: the file is empty", name));
  const std::optional<FileKind> kind = find_file_kind(bytes);
  if (!kind) {
    throw ToolError(fmt::format(
        "{}: the kind of file is unknown: bytes 0 to 11 ({}) contain none of the identifiers "
        "ET12 (.pte), BP08 (.bpte), FT01 (.ptd), ED00 (ETDump), XH00, XN00 and XN01 "
        "(XNNPACK payload), and the file is neither a zip archive (ETRecord, .pt2) nor the payload "
        "of another backend",
        name, first_bytes(bytes)));
  }
  if (*kind == FileKind::kArchive) {
    const ZipArchive archive({bytes, nullptr}, name);  // throws if the archive is damaged
    throw ToolError(fmt::format(
        "{}: the file is a zip archive, but neither an ETRecord (no member ETRECORD_V0) nor a .pt2 "
        "(no member archive_format or serialized_exported_program.json) nor a .ptn (no member "
        "program.ptg); {}",
        name, row_of(*kind).advice));
  }
  if (*kind > FileKind::kNativeModel) {
    throw ToolError(wrong_kind_text(name, "a program, model, trace or record", *kind));
  }
  return *kind;
}

const char* kind_name(FileKind kind) { return row_of(kind).name; }

std::string wrong_kind_text(const std::filesystem::path& file, const char* expected,
                            FileKind found) {
  const KindRow& row = row_of(found);
  std::filesystem::path program = file;
  program.replace_extension(".pte");
  return fmt::format("{}: expected {}, found {}{}{}: {}", file.string(), expected, row.article,
                     *row.article == '\0' ? "" : " ", row.name,
                     fmt::format(fmt::runtime(row.advice), file.string(), program.string()));
}

void check_kind(const std::filesystem::path& file, std::span<const std::byte> bytes,
                const char* expected, std::initializer_list<FileKind> allowed) {
  const std::optional<FileKind> kind = find_file_kind(bytes);
  if (!kind || std::ranges::count(allowed, *kind) != 0) return;
  throw ToolError(wrong_kind_text(file, expected, *kind));
}

}  // namespace vitrine::tools
