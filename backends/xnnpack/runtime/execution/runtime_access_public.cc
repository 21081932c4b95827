// The implementation for builds without XNNPACK's private headers.
#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {

bool can_access_runtimes() { return false; }
void prepare_xnnpack() {}
uint32_t count_subgraph_nodes(xnn_subgraph_t) { return 0; }
SubgraphNode subgraph_node_at(xnn_subgraph_t, uint32_t) { return {}; }
bool operators_keep_node_ids() { return true; }
size_t operator_count(xnn_runtime_t) { return 0; }
RuntimeOperator operator_at(xnn_runtime_t, size_t) { return {}; }
size_t value_count(xnn_runtime_t) { return 0; }
RuntimeValue value_at(xnn_runtime_t, uint32_t) { return {}; }
void set_value_shape(xnn_runtime_t, uint32_t, const Shape&, size_t) {}
pthreadpool_t threads_of(xnn_runtime_t) { return nullptr; }
void stop_profiling(xnn_runtime_t) {}
size_t workspace_bytes(xnn_workspace_t) { return 0; }
xnn_status reshape_operators(xnn_runtime_t, bool (*)(xnn_runtime_t, const RuntimeOperator&)) {
  return xnn_status_invalid_state;
}
size_t workspace_bytes_of_value(xnn_runtime_t, uint32_t) { return 0; }
size_t workspace_bytes_of_operator(xnn_runtime_t, size_t) { return 0; }
void set_value_memory(xnn_runtime_t, uint32_t, std::byte*) {}
void set_operator_memory(xnn_runtime_t, size_t, std::byte*) {}
void keep_memory_plan(xnn_runtime_t) {}
void drop_memory_plan(xnn_runtime_t) {}
bool sets_second_outputs() { return false; }
bool checks_plan_lists() { return false; }
std::byte* workspace_memory(xnn_workspace_t) { return nullptr; }
xnn_status grow_workspace(xnn_workspace_t, size_t) { return xnn_status_invalid_state; }
void forget_operator_buffers(xnn_runtime_t) {}
std::optional<StridedCopy> strided_copy_of(xnn_operator_t) { return std::nullopt; }
void set_strided_copy(xnn_operator_t, CopyRows) {}
std::optional<TiledTransposition> tiled_transposition_of(xnn_operator_t) { return std::nullopt; }
StridedRows strided_rows(const void*) { return {}; }
PackInt4 xnnpack_int4_packing() { return nullptr; }
bool set_int4_packing(PackInt4) { return false; }
PackF32 replace_f32_packing(PackF32) { return nullptr; }
bool has_avx512_vnni() { return false; }
MultiplyF32 replace_f32_products(MultiplyF32, size_t, size_t) { return nullptr; }
void set_int4_products(MultiplyInt4, size_t, size_t, size_t) {}

}  // namespace vitrine::xnnpack
