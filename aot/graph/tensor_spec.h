// What is known of a tensor before there is one.
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
  int64_t index = -1;  // -1: none given
  friend bool operator==(const Device&, const Device&) = default;
};

struct TensorSpec {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;  // in elements, one a size
  SymInt storage_offset;        // in elements
  Device device;
  Layout layout = Layout::kStrided;
  bool requires_grad = false;

  size_t rank() const { return sizes.size(); }
  bool is_static() const;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

// Strides of a dense tensor whose dims lie in memory in this order, outermost first.
std::vector<SymInt> dense_strides(const std::vector<SymInt>& sizes,
                                  const std::vector<uint8_t>& dim_order);
std::vector<SymInt> contiguous_strides(const std::vector<SymInt>& sizes);
TensorSpec contiguous_spec(ScalarType dtype, std::vector<SymInt> sizes);
// Dims by decreasing stride, as torch.Tensor.dim_order: dims of equal strides keep their order.
// Where strides are symbols they compare by what divides what; what cannot be told keeps its order.
std::vector<uint8_t> dim_order_of(const TensorSpec& spec);
// The order that the tensor has in a program: kernels know row-major and channels-last ones. Others
// are those of views, which are copies there, and of inputs: they become row-major.
std::vector<uint8_t> kept_dim_order(const TensorSpec& spec);
// "f32[1, 3, s0]"
std::string to_text(const TensorSpec& spec);

}  // namespace vitrine::aot
