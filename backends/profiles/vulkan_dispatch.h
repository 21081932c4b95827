// Reads the identifiers of Vulkan's shader dispatches, which are untrusted and not always JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vitrine::vulkan {

// The parsed identifier of a trace event for a shader dispatch. Its strings point into the
// identifier.
struct DispatchEvent {
  std::string_view kernel;              // for example "binary_add_texture3d_float"
  std::string_view op;                  // for example "aten.add.Tensor"; empty in old traces
  std::optional<uint64_t> operator_id;  // counts the operators of all delegates in a process
  std::optional<uint64_t> node_id;      // index among the payload's operators
  std::optional<uint64_t> dispatch_id;  // position in the delegate's list of executions
  bool is_json = false;                 // traces before 1.1 have "<kernel>_<dispatch id>" instead
                                        // of JSON

  // Copies between the CPU's layout and the GPU's layout.
  bool is_copy_in() const { return kernel.starts_with("nchw_to_"); }
  bool is_copy_out() const { return kernel.find("_to_nchw") != kernel.npos; }
};

DispatchEvent read_dispatch(std::string_view identifier);

}  // namespace vitrine::vulkan
