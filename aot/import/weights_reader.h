// The weights of a PT2 archive.
#pragma once

#include <string>

#include "aot/import/saved_tensors.h"
#include "base/zip_archive.h"

namespace vitrine::aot {

// `folder` ("model/data/weights/") holds <model>_<kind>_config.json and the records that it names,
// or <model>.pt (torch 2.8). Neither: no tensors.
SavedWeights read_payload(const ZipArchive& archive, const std::string& folder,
                          const std::string& model, const std::string& kind);

}  // namespace vitrine::aot
