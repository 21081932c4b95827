// Imports models of ExecuTorch Native (.ptn, or .ptg without weights).
//
// Reads version "1" of the format (docs/formats/native.md), which is experimental in ExecuTorch
// 1.6. The graph is functional core ATen with static shapes. The file is untrusted; ImportErrors
// name the file, the method and the node. Weights are views into the mapped file.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

using NativeMethods = std::map<std::string, ExportedProgram, std::less<>>;  // keyed by name

// Imports a file in memory. The returned programs have passed lint(). `owner` keeps `bytes` alive;
// if `owner` is null, `bytes` must outlive the programs. `source` names the bytes in errors.
NativeMethods parse_native(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           const std::string& source);

}  // namespace vitrine::aot
