// Reads the identifiers of Vulkan's shader dispatches. The texts are untrusted and not always JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vitrine::vulkan {

// An event of a shader dispatch. The texts point into the event's identifier.
struct DispatchEvent {
  std::string_view kernel;              // "binary_add_texture3d_float"
  std::string_view op;                  // "aten.add.Tensor"; empty in old traces
  std::optional<uint64_t> operator_id;  // a counter of the process
  std::optional<uint64_t> node_id;      // index among the payload's operators; since 1.5
  std::optional<uint64_t> dispatch_id;  // position in the delegate's list of executions
  bool is_json = false;                 // false: "<kernel>_<dispatch id>", before 1.1

  // True for copies between the CPU's layout and the GPU's. A copy belongs to the operator of the
  // dispatch before it.
  bool is_copy_in() const { return kernel.starts_with("nchw_to_"); }
  bool is_copy_out() const { return kernel.find("_to_nchw") != kernel.npos; }
};

DispatchEvent read_dispatch(std::string_view identifier);

}  // namespace vitrine::vulkan
