// Reads named tensors from archives that torch.save wrote.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "base/zip_archive.h"

namespace vitrine::aot {

// The content of a tensor subclass, such as torchao's quantized weights.
struct TensorSubclass {
  std::string type;  // "torchao.quantization IntxUnpackedToInt8Tensor"
  std::vector<int64_t> sizes;
  struct InnerTensor {
    std::string path;  // attribute names, outermost first: "qdata", "tensor_impl.int_data"
    TensorData data;
  };
  std::vector<InnerTensor> inner_tensors;  // in the order of the object's attributes
};

struct SavedWeights {
  TensorMap tensors;
  std::map<std::string, TensorSubclass, std::less<>> subclasses;
};

// Reads a torch.save archive that contains a dict of tensors and parameters. The tensors share
// bytes.owner. FormatErrors begin with `source`. Empty bytes count as an empty dict.
SavedWeights read_saved_tensors(const SharedBytes& bytes, const std::string& source);
// Reads a torch.save archive that contains a single tensor or parameter, and adds the tensor to
// `weights` under the name `name`.
void read_saved_tensor(const SharedBytes& bytes, const std::string& source, const std::string& name,
                       SavedWeights& weights);

}  // namespace vitrine::aot
