#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/byte_view.h"

namespace vitrine::delegates::core_ml {

struct PackedFile {
  std::string path;  // for example "model.mlpackage/Manifest.json"
  Bytes data;
};

// Lists the files in a Core ML payload. The index at the end of the payload is JSON with its
// characters in reverse order. Paths are relative to the root folder. Throws a FormatError if the
// index is damaged.
std::vector<PackedFile> read_container(Bytes payload);
// Returns true if the payload may be a container. The reversed index starts with a brace and the
// key "nodes", so a container ends with "sedon"{ before any padding.
bool may_be_container(Bytes payload);

// Returns the first file whose path is `suffix` or ends with "/" and `suffix`, or null.
const PackedFile* find_file(const std::vector<PackedFile>& files, std::string_view suffix);

// A constant in a file of weights.
struct WeightBlob {
  std::string_view dtype;
  uint64_t bytes = 0;
};
// Reads the record at `offset` of a file of weights. Throws a FormatError if it is invalid.
WeightBlob read_weight(Bytes file, uint64_t offset);

}  // namespace vitrine::delegates::core_ml
