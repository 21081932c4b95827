#pragma once

#include <string>

#include "aot/pipeline/lower.h"

namespace vitrine::tools {

// Returns each method's delegated calls by kind of operator, the planned memory, and the file
// sizes.
std::string summary_text(const aot::LoweredModel& model);
// Returns the graph of each method, including the graphs inside delegates.
std::string graph_text(const aot::LoweredModel& model);
std::string graphviz_text(const aot::LoweredModel& model);
// Returns the report of --explain for each method: why calls are not int8, what --attention and
// --optimize changed, and why calls are not delegated (most expensive calls first). If `with_calls`
// is true, the calls follow each reason.
std::string explain_text(const aot::LoweredModel& model, bool with_calls);

}  // namespace vitrine::tools
