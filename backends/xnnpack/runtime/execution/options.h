// Defines the options for loading XNNPACK delegates. ExecuTorch's backend uses the same keys.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/backend.h"

namespace vitrine::xnnpack {

// Selects which delegates share memory for intermediate values. Delegates that share memory run one
// at a time, even if several threads call them.
enum class WorkspaceSharing : uint8_t {
  kOff,
  kPerProgram,
  kGlobal,  // all programs in the process
};

struct Options {
  // The option "workspace_sharing_mode": 0, 1 or 2.
  WorkspaceSharing workspace_sharing = WorkspaceSharing::kPerProgram;
  // The option "weight_cache_enabled": delegates that pack the same constants of a program in the
  // same way share one copy.
  bool weights_cache = true;
  // The option "packed_cache_path": the path of a file that stores packed weights for later
  // processes. If the path is empty, no file is used.
  std::string_view packed_cache_path;
  // The option "vitrine_kernels": an operator runs on Vitrine's kernel if that kernel is faster
  // than XNNPACK's (own_kernels.h).
  bool vitrine_kernels = true;
  // The option "exact": excludes kernels that are less accurate than plain sums of products
  // (own_kernels/winograd.h).
  bool exact = false;
  // The option "choices": the path of a table that selects Vitrine's or XNNPACK's kernels
  // (kernel_choices.h). If the path is empty, built-in rules select the kernels.
  std::string_view choices;
};

// Returns `defaults`, changed by those options in `given` that are for the XNNPACK backend.
// InvalidArgument for unknown keys and invalid values.
Result<Options> read_options(std::span<const BackendOption> given, const Options& defaults);

}  // namespace vitrine::xnnpack
