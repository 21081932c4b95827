// Recognises kinds of files by their identifiers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace vitrine::tools {

enum class FileKind : uint8_t {
  kProgram,         // .pte
  kBundledProgram,  // .bpte
  kNamedData,       // .ptd
  kTrace,           // ETDump
  kXnnpackBlob,     // payload of an XNNPACK delegate
  kRecord,          // ETRecord
  kExportedModel,   // .pt2
};

// `name` is for errors. ToolError with the file's first bytes if it is of no known kind.
FileKind kind_of_file(std::span<const std::byte> bytes, const std::string& name);

// "program (.pte)"
const char* kind_name(FileKind kind);

}  // namespace vitrine::tools
