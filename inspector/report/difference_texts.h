#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspector/compare/comparison.h"

namespace vitrine::inspector {

// Returns facts about an output, such as "output 0", "f32[1,10]", "max diff 0.341", "SQNR 32.2 dB".
std::vector<std::string> output_facts(const OutputDifference& output);

// Returns a line for each output: "output 0 · f32[1,10] · max diff 0.341 · SQNR 32.2 dB ...".
std::string output_lines(const std::vector<OutputDifference>& outputs, size_t width);

// Figures that are infinite or NaN become null.
nlohmann::ordered_json output_json(const OutputDifference& output);
nlohmann::ordered_json outputs_json(const std::vector<OutputDifference>& outputs);

}  // namespace vitrine::inspector
