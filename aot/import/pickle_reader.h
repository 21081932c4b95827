// Tensors saved by torch.save, without running the pickle.
#pragma once

#include <string>

#include "aot/graph/exported_program.h"
#include "aot/import/zip_archive.h"

namespace vitrine::aot {

// `bytes` is a whole torch.save archive of a dict of tensors and parameters by name; tensors share
// bytes.owner. Only the opcodes and constructors of docs/formats/pt2.md are followed. ImportErrors
// begin with `place`. Empty bytes are an empty dict.
TensorMap read_saved_tensors(const Bytes& bytes, const std::string& place);

}  // namespace vitrine::aot
