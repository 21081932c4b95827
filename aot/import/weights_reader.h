// Reads the weights of a PT2 archive.
#pragma once

#include <string>

#include "aot/import/saved_tensors.h"
#include "base/zip_archive.h"

namespace vitrine::aot {

// Reads the weights of one kind ("weights" or "constants") from a folder such as
// "model/data/weights/". The folder contains <model>.pt (torch 2.8), or <model>_<kind>_config.json
// and records. Without these files, returns no weights.
SavedWeights read_weights(const ZipArchive& archive, const std::string& folder,
                          const std::string& model, const std::string& kind);

}  // namespace vitrine::aot
