// The properties of a tensor that are known ahead of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aot/graph/symbolic.h"
#include "vitrine/scalar_type.h"

namespace vitrine::aot {

enum class MemoryFormat : uint8_t { kContiguous, kChannelsLast, kChannelsLast3d, kPreserve };
enum class Layout : uint8_t {
  kStrided,
  kSparseCoo,
  kSparseCsr,
  kSparseCsc,
  kSparseBsr,
  kSparseBsc,
  kMkldnn
};

struct Device {
  std::string type = "cpu";
  int64_t index = -1;  // -1: unspecified
  friend bool operator==(const Device&, const Device&) = default;
};

struct TensorSpec {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;  // in elements, one per size
  SymInt storage_offset;        // in elements
  Device device;
  Layout layout = Layout::kStrided;
  bool requires_grad = false;

  size_t rank() const { return sizes.size(); }
  bool is_static() const;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

// Returns the strides of a dense tensor. `dim_order` lists the tensor's dims, outermost first.
std::vector<SymInt> dense_strides(const std::vector<SymInt>& sizes,
                                  const std::vector<uint8_t>& dim_order);
std::vector<SymInt> contiguous_strides(const std::vector<SymInt>& sizes);
TensorSpec contiguous_spec(ScalarType dtype, std::vector<SymInt> sizes);
// Sorts the dims by decreasing stride, like torch.Tensor.dim_order. Dims keep their order if their
// strides are equal or cannot be compared.
std::vector<uint8_t> dim_order_of(const TensorSpec& spec);
// Returns the tensor's dim order in the program. Channels-last tensors keep their order. All other
// tensors become row-major, because kernels support only these two orders.
std::vector<uint8_t> kept_dim_order(const TensorSpec& spec);
// Returns a text such as "f32[1, 3, s0]".
std::string to_text(const TensorSpec& spec);

}  // namespace vitrine::aot
