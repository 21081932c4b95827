// Imports .pt2 files, which torch.export.save writes.
//
// Reads the layout of torch 2.5 to 2.7 and that of 2.8 and later (docs/formats/pt2.md), for
// programs in training IR and in decomposed core ATen. The file is untrusted: ImportErrors name the
// file, the archive's member and the position in it. Weights that the archive stores without
// compression are views into the mapped file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// The program has passed lint(). The file must not change while the program's weights are in use.
ExportedProgram import_pt2(const std::filesystem::path& file);
// `owner` keeps `bytes` alive. If it is null, `bytes` must outlive the program. `source` names the
// bytes in errors.
ExportedProgram parse_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const std::string& source);

}  // namespace vitrine::aot
