// Reads files of ExecuTorch Native (docs/formats/native.md): graphs without weights (.ptg), and
// packages (.ptn). A package is a zip archive with the members program.ptg (a flatbuffer),
// program.safetensors and aliases.json.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/zip_archive.h"
#include "vitrine/scalar_type.h"

namespace vitrine::native {

// A contiguous tensor of a package. Its bytes are valid while the package is alive.
struct StoredTensor {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> sizes;
  std::span<const std::byte> bytes;
};

struct NativePackage {
  std::string source;  // names the package in errors
  SharedBytes graph;   // a flatbuffer with the identifier NPTG, not yet verified
  SharedBytes data;    // program.safetensors; empty if the package does not have weights
  // Tensors by data key. Aliases are separate entries with the same bytes.
  std::map<std::string, StoredTensor, std::less<>> tensors;
};

inline constexpr std::string_view kGraphMember = "program.ptg";

// True if `bytes` have the identifier of a .ptg, or are an archive with the member program.ptg.
bool is_native_model(std::span<const std::byte> bytes);

// Reads a .ptn or .ptg. Throws a FormatError that begins with `source` if the archive, the
// safetensors header or an alias is damaged. The package shares `bytes.owner`.
NativePackage read_native_package(SharedBytes bytes, std::string source);

}  // namespace vitrine::native
