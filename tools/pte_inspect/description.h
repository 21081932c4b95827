// Describes a file as a JSON document for --json and for description_text.h.
//
// Every description has the keys "file", "kind" and "bytes". docs/inspecting.md lists other keys.
// Names from files may contain any bytes.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "tools/common/file_kind.h"
#include "vitrine/named_data.h"

namespace vitrine::tools {

using Json = nlohmann::ordered_json;

inline constexpr int kDescriptionVersion = 1;

// The bytes of a file, 16-byte aligned, and the file's name for errors.
struct OpenedFile {
  std::string name;
  std::span<const std::byte> bytes;
  const NamedDataMap* data = nullptr;  // external weights of a program; may be null
  // If true, describe_file() loads a program's delegates and reports their memory
  // (prepared_delegates.h).
  bool prepares_delegates = false;
};

// Describes a file of any kind. Throws a HostError that names the file, the position and the
// problem.
Json describe_file(const OpenedFile& file);

// Each function adds the keys of one kind of file. describe_file() selects the function.
void describe_program(const OpenedFile& file, Json& json);
void describe_bundle(const OpenedFile& file, Json& json);
void describe_named_data(const OpenedFile& file, Json& json);
void describe_trace(const OpenedFile& file, Json& json);
void describe_payload(const OpenedFile& file, Json& json);
void describe_foreign_payload(const OpenedFile& file, Json& json);
void describe_record(const OpenedFile& file, Json& json);
void describe_exported_model(const OpenedFile& file, Json& json);
void describe_native_model(const OpenedFile& file, Json& json);

}  // namespace vitrine::tools
