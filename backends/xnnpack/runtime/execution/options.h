// Options for loading XNNPACK delegates. The first three keys come from ExecuTorch.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vitrine/backend.h"

namespace vitrine::xnnpack {

// Selects the delegates that share intermediate memory. Such delegates run one at a time.
enum class WorkspaceSharing : uint8_t {
  kOff,
  kPerProgram,
  kGlobal,  // all programs of the process
};

struct Options {
  // The option "workspace_sharing_mode": 0, 1 or 2.
  WorkspaceSharing workspace_sharing = WorkspaceSharing::kPerProgram;
  // The option "weight_cache_enabled": delegates that pack the same constants in the same way share
  // one copy.
  bool weights_cache = true;
  // The option "packed_cache_path": the path of a file that stores packed weights for later
  // processes. Empty: without a file.
  std::string_view packed_cache_path;
  // The option "vitrine_kernels": use Vitrine's kernels where they are faster (own_kernels.h).
  bool vitrine_kernels = true;
  // The option "exact": exclude kernels that are less accurate than plain sums of products
  // (own_kernels/winograd.h).
  bool exact = false;
  // The option "choices": the path of a table that selects kernels (kernel_choices.h). Empty:
  // built-in rules select kernels.
  std::string_view choices;
};

// Returns `defaults`, changed by the options for the XNNPACK backend in `given`. Returns
// InvalidArgument for unknown keys and invalid values.
Result<Options> read_options(std::span<const BackendOption> given, const Options& defaults);

}  // namespace vitrine::xnnpack
