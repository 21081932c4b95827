// Writes a GraphPicture as a JSON file that Google's Model Explorer opens. The file is a list of
// graphs with the members that Model Explorer's graph_builder.py declares
// (github.com/google-ai-edge/model-explorer, src/server/package/src/model_explorer).
#pragma once

#include <string>

#include "inspector/report/graph_picture.h"

namespace vitrine::inspector {

// Boxes become namespaces. Edges to or from boxes are left out, because only nodes have edges in
// Model Explorer.
std::string report_model_explorer(const GraphPicture& picture);

}  // namespace vitrine::inspector
