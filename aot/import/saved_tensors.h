// State that torch.save wrote -> tensors by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "base/zip_archive.h"

namespace vitrine::aot {

// A tensor subclass, as torchao's quantised weights are: what it is made of.
struct TensorSubclass {
  std::string type;  // "torchao.quantization IntxUnpackedToInt8Tensor"
  std::vector<int64_t> sizes;
  struct Part {
    std::string path;  // attributes, outermost first: "qdata", "tensor_impl.int_data"
    TensorData data;
  };
  std::vector<Part> parts;  // as the object has them
};

struct SavedWeights {
  TensorMap tensors;
  std::map<std::string, TensorSubclass, std::less<>> subclasses;
};

// `bytes` is a whole torch.save archive of a dict of tensors and parameters; tensors share
// bytes.owner. FormatErrors begin with `place`. Empty bytes are an empty dict.
SavedWeights read_saved_tensors(const SharedBytes& bytes, const std::string& place);
// For an archive that holds only one tensor or parameter: adds it as `name`.
void read_saved_tensor(const SharedBytes& bytes, const std::string& place, const std::string& name,
                       SavedWeights& weights);

}  // namespace vitrine::aot
