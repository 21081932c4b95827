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
// Returns the report of --explain. For each method, it says why calls are not int8, what
// --attention and --optimize changed, and why calls are not delegated (the most expensive calls
// come first). If `with_calls` is true, the calls follow each reason.
std::string explain_text(const aot::LoweredModel& model, bool with_calls);

}  // namespace vitrine::tools
