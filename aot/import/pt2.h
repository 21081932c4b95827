// Imports .pt2 files, which torch.export.save writes.
//
// Reads archives of torch 2.5 and later (docs/formats/pt2.md), and programs in training IR or
// decomposed core ATen. The file is untrusted; ImportErrors name the file, the archive's member and
// the position. Weights that are stored without compression are views into the mapped file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// The returned program has passed lint(). The file must not change while weights are in use.
ExportedProgram import_pt2(const std::filesystem::path& file);
// Imports a file in memory. `owner` keeps `bytes` alive; if `owner` is null, `bytes` must outlive
// the program. `source` names the bytes in errors.
ExportedProgram parse_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string& source);

}  // namespace vitrine::aot
