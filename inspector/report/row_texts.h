#pragma once

#include <string>
#include <vector>

#include "base/text/number_texts.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Names of a row in reports. All texts are printable (text_layout.h).
struct RowTexts {
  std::string place;     // where the row ran: "xnn 0", "portable"
  std::string op;        // "convolution + batch_norm + hardtanh", "layout change for #2"
  std::string short_op;  // for narrow columns: "convolution +2", "view (of 25)", "layout for #2"
  std::string module;    // the common path of the ops' modules
  std::string kernel;
  std::string short_kernel;  // for narrow columns: "IGEMM f32", "add.out"
};
RowTexts row_texts(const ProfileRow& row);

Unit row_unit(const Profile& profile);
// Returns the unit for `value`, a single time of the profile.
Unit figure_unit(const Profile& profile, double value);

// Returns the type of a row's op, for grouping rows: "convolution", "layout change" or "control
// flow". If no single op represents the row, returns the phase of the delegate call, the name of
// the kernel, or "unknown".
std::string op_type(const ProfileRow& row);

// Returns the name of `where` in JSON and CSV: "delegate", "kernel" or "control".
const char* where_name(Where where);

// Returns the place where a row ran, for grouping rows: "XNNPACK", "portable kernels", "control
// flow".
std::string place_type(const ProfileRow& row);

// Returns the innermost module that contains all ops of a row, even folded ops: "features.0" for a
// convolution in features.0.0 with folded ops in features.0.1 and features.0.2. Ignores the folded
// ops if they would lift the result by more than one level or to the whole model.
std::string module_of(const ProfileRow& row);

// Returns the longest dotted path that is a prefix of all paths. Ignores empty paths.
std::string common_path(const std::vector<std::string>& paths);

}  // namespace vitrine::inspector
