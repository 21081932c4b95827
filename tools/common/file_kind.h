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
  // Tools recognize the following kinds, but cannot describe their contents.
  kProfile,       // JSON of a profile
  kTokenProfile,  // JSON of a token profile
  kArchive,       // another zip archive
  kNumpyArray,    // .npy
  kTfliteModel,   // .tflite
  kGguf,          // .gguf
  kElf,           // a compiled program or library
};

// Returns nullopt if the identifiers in the bytes are unknown. A damaged archive counts as
// kArchive.
std::optional<FileKind> find_file_kind(std::span<const std::byte> bytes);

// Returns the kind of a file that tools can describe. For other files, throws a ToolError that
// begins with `name` and has the kind or the file's first bytes.
FileKind kind_of_file(std::span<const std::byte> bytes, const std::string& name);

// Names a kind of file: "program (.pte)".
const char* kind_name(FileKind kind);

// Returns a message with advice: "m.pt2: expected a program (.pte), found an exported model (.pt2):
// lower it with 'vitrine lower m.pt2 ...'".
std::string wrong_kind_text(const std::filesystem::path& file, const char* expected,
                            FileKind found);

// Throws a ToolError with wrong_kind_text() if the file has a known kind that is not in `allowed`.
void check_kind(const std::filesystem::path& file, std::span<const std::byte> bytes,
                const char* expected, std::initializer_list<FileKind> allowed);

}  // namespace vitrine::tools
