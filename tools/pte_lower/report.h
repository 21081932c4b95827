// The reports of pte_lower.
#pragma once

#include <string>

#include "aot/pipeline/lower.h"

namespace vitrine::tools {

// Per method: what is delegated, by kind of operator, and planned memory; then the file's parts.
std::string summary_text(const aot::LoweredModel& model);
// Per method: the graph, including the graphs inside delegates.
std::string graph_text(const aot::LoweredModel& model);
std::string graphviz_text(const aot::LoweredModel& model);
// Per method: why calls are not delegated, most expensive first; the calls only if asked for.
std::string explain_text(const aot::LoweredModel& model, bool with_places);

}  // namespace vitrine::tools
