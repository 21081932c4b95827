// Makes the reports of pte_lower.
#pragma once

#include <string>

#include "aot/pipeline/lower.h"

namespace vitrine::tools {

// Returns a summary: the delegated calls of each method by kind of operator, the planned memory,
// and the file sizes.
std::string summary_text(const aot::LoweredModel& model);
// Returns the graph of each method, including the graphs inside delegates.
std::string graph_text(const aot::LoweredModel& model);
std::string graphviz_text(const aot::LoweredModel& model);
// Explains for each method why calls are not int8 and why calls are not delegated. The most
// expensive calls come first. If `with_calls` is true, lists each call.
std::string explain_text(const aot::LoweredModel& model, bool with_calls);

}  // namespace vitrine::tools
