// Describes a file as one JSON document, which is printed (--json) or converted to text
// (description_text.h).
//
// Every description has "file", "kind" and "bytes"; the rest by kind is in docs/inspecting.md.
// Names come from files and may be any bytes.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "tools/pte_inspect/file_kind.h"

namespace vitrine::tools {

using Json = nlohmann::ordered_json;

inline constexpr int kDescriptionVersion = 1;

// A file's bytes, 16-byte aligned, and its name for errors.
struct OpenedFile {
  std::string name;
  std::span<const std::byte> bytes;
};

// Throws HostErrors that name the file, the place and what is
// wrong.
Json describe_file(const OpenedFile& file);

// By kind; describe_file dispatches.
void describe_program(const OpenedFile& file, Json& json);
void describe_bundle(const OpenedFile& file, Json& json);
void describe_named_data(const OpenedFile& file, Json& json);
void describe_trace(const OpenedFile& file, Json& json);
void describe_blob(const OpenedFile& file, Json& json);
void describe_record(const OpenedFile& file, Json& json);
void describe_exported_model(const OpenedFile& file, Json& json);

}  // namespace vitrine::tools
