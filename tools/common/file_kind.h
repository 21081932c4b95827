// Recognizes the kind of a file by its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace vitrine::tools {

enum class FileKind : uint8_t {
  kProgram,         // .pte
  kBundledProgram,  // .bpte
  kNamedData,       // .ptd
  kTrace,           // ETDump
  kXnnpackPayload,  // payload of an XNNPACK delegate
  kRecord,          // ETRecord
  kForeignPayload,  // payload of a delegate that Vitrine does not run
  kExportedModel,   // .pt2
  kNativeModel,     // .ptn
  // Tools recognize files of the kinds below, but cannot describe their contents.
  kProfile,       // JSON of a profile
  kTokenProfile,  // JSON of a token profile
  kArchive,       // another zip archive
  kNumpyArray,    // .npy
  kTfliteModel,   // .tflite
  kGguf,          // .gguf
  kElf,           // a compiled program or library
};

// Returns the kind of a file according to the identifiers in its bytes, or nullopt if the kind is
// unknown. A damaged archive counts as kArchive.
std::optional<FileKind> find_file_kind(std::span<const std::byte> bytes);

// Returns the kind of a file whose contents tools can describe. For any other file, throws a
// ToolError that begins with `name`. The error names the kind; if the kind is unknown, it shows the
// file's first bytes.
FileKind kind_of_file(std::span<const std::byte> bytes, const std::string& name);

// "program (.pte)"
const char* kind_name(FileKind kind);

// Returns a message about a file of the wrong kind, with advice: "m.pt2: expected a program (.pte),
// found an exported model (.pt2): lower it with 'vitrine lower m.pt2 ...'".
std::string wrong_kind_text(const std::filesystem::path& file, const char* expected,
                            FileKind found);

// Throws a ToolError with wrong_kind_text() if the file has a known kind that is not in `allowed`.
void check_kind(const std::filesystem::path& file, std::span<const std::byte> bytes,
                const char* expected, std::initializer_list<FileKind> allowed);

}  // namespace vitrine::tools
