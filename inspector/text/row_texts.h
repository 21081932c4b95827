// Names for the rows of a profile in reports.
#pragma once

#include <string>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Printable (text_layout.h).
struct RowTexts {
  std::string place;     // "xnn 0", "portable"
  std::string op;        // "convolution + batch_norm + hardtanh", "layout change for #2"
  std::string short_op;  // for narrow columns: "convolution +2", "view (of 25)", "layout for #2"
  std::string module;    // the common path of its ops
  std::string kernel;
};
RowTexts row_texts(const ProfileRow& row);

// For sums: "convolution", "layout change"; "unknown" without source ops.
std::string op_type(const ProfileRow& row);

// As reports for programs name it: "delegate", "kernel", "control".
const char* where_name(Where where);

// For sums: "XNNPACK", "portable kernels", "control flow".
std::string place_type(const ProfileRow& row);

// "features.0" of a convolution features.0.0 with what was folded in from features.0.1 and
// features.0.2; the operator's own module if the common one is further away than its parent.
std::string module_of(const ProfileRow& row);

// The longest common path of dotted paths; empty ones do not count.
std::string common_path(const std::vector<std::string>& paths);

}  // namespace vitrine::inspector
