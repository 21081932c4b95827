// Reads the weights of a PT2 archive.
#pragma once

#include <string>

#include "aot/import/saved_tensors.h"
#include "base/zip_archive.h"

namespace vitrine::aot {

// Reads the weights from `folder` ("model/data/weights/"). The folder contains
// <model>_<kind>_config.json and the records that this file names, or <model>.pt (torch 2.8). If it
// contains neither file, the program has no weights of this kind.
SavedWeights read_weights(const ZipArchive& archive, const std::string& folder,
                          const std::string& model, const std::string& kind);

}  // namespace vitrine::aot
