// Names for the ops of a comparison in its reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/compare/comparison.h"

namespace vitrine::inspector {

// Printable (text_layout.h).
struct ComparedTexts {
  std::string op;        // "convolution + batch_norm + hardtanh", "layout change for convolution"
  std::string short_op;  // for narrow columns
  std::string module;
  std::string place_a, place_b;  // "xnn 0", "portable x3"; empty if nothing ran there
};
ComparedTexts compared_texts(const ComparedOp& op, const Profile& a, const Profile& b);

// A line of a report's head, of `width` cells: the profile's model and method, `facts`, and where
// its names are from.
std::string side_line(std::string_view label, const Profile& profile,
                      const std::vector<std::string>& facts, size_t width);

// {"op", "module", "rows_a", "rows_b"}
nlohmann::ordered_json compared_json(const ComparedOp& op, const ComparedTexts& texts);

// "debug handles", "op and module", "names in run order"
const char* alignment_name(Alignment alignment);

}  // namespace vitrine::inspector
