// A .pt2 file, as torch.export.save writes it -> ExportedProgram.
//
// Reads both layouts (docs/formats/pt2.md): torch 2.5 to 2.7's and 2.8's and later, training IR and
// decomposed core ATen. The file is untrusted: ImportErrors name the file, the archive's member and
// the place in it. Weights that the archive holds plain are views into the mapped file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// The result has passed `lint`. The file must not change while the program's weights are in use.
ExportedProgram import_pt2(const std::filesystem::path& file);
// `owner` keeps `bytes`; if it is null, the caller does, for as long as the program lives. `source`
// names the bytes in errors.
ExportedProgram parse_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string& source);

}  // namespace vitrine::aot
