// Options for loading XNNPACK delegates; the keys are those of ExecuTorch's backend.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/backend.h"

namespace vitrine::xnnpack {

// Who shares memory for intermediate values. Delegates that share it run one at a time, also when
// they are called from several threads.
enum class WorkspaceSharing : uint8_t {
  kOff,
  kPerProgram,
  kGlobal,  // all programs in the process
};

struct Options {
  // "workspace_sharing_mode": 0, 1 or 2.
  WorkspaceSharing workspace_sharing = WorkspaceSharing::kPerProgram;
  // "weight_cache_enabled": delegates that pack the same constants of a program alike keep one
  // copy.
  bool weights_cache = true;
  // "packed_cache_path": the copies are kept in this file, too, across processes. Empty: no file.
  std::string_view packed_cache_path;
};

// `defaults` with what `given` has for XNNPACK. InvalidArgument for unknown keys and wrong values.
Result<Options> read_options(std::span<const BackendOption> given, const Options& defaults);

}  // namespace vitrine::xnnpack
