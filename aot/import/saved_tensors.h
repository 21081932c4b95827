// State that torch.save wrote -> tensors by name.
#pragma once

#include <string>

#include "aot/graph/exported_program.h"
#include "base/zip_archive.h"

namespace vitrine::aot {

// `bytes` is a whole torch.save archive of a dict of tensors and parameters; tensors share
// bytes.owner. FormatErrors begin with `place`. Empty bytes are an empty dict.
TensorMap read_saved_tensors(const SharedBytes& bytes, const std::string& place);

}  // namespace vitrine::aot
