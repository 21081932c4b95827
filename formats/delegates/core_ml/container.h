// The files inside a Core ML payload.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/byte_view.h"

namespace vitrine::delegates::core_ml {

struct PackedFile {
  std::string path;  // "model.mlpackage/Manifest.json"
  Bytes data;
};

// Reads the index at the end of the payload: JSON whose characters are in reverse order. Paths are
// relative to the root folder. Throws a FormatError if the index is damaged.
std::vector<PackedFile> read_container(Bytes payload);
// True if the payload ends like a container, which has no identifier at its start.
bool may_be_container(Bytes payload);

// Returns the file whose path ends with `suffix`, or null.
const PackedFile* find_file(const std::vector<PackedFile>& files, std::string_view suffix);

// One constant of a file of weights, named by the position of its record.
struct WeightBlob {
  std::string_view dtype;
  uint64_t bytes = 0;
};
// Throws a FormatError if no valid record is at `offset`.
WeightBlob read_weight(Bytes file, uint64_t offset);

}  // namespace vitrine::delegates::core_ml
