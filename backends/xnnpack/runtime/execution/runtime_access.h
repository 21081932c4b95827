// Access to XNNPACK's private structures, which only own_kernels.cc and own_kernels/ access without
// this header. Each supported version of XNNPACK has a file that implements this header and asserts
// its assumptions about XNNPACK: runtime_access_debian.cc (XNNPACK 4ea82e5, November 2024) and
// runtime_access_upstream.cc (XNNPACK 92a7ad5, July 2026). Builds with
// VITRINE_XNNPACK_PRIVATE_HEADERS=OFF use runtime_access_public.cc.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "backends/xnnpack/runtime/reader/shape.h"

namespace vitrine::xnnpack {

// False with the public API alone. The functions below then do nothing and return empty results.
bool can_access_runtimes();

// Call once, after xnn_initialize().
void prepare_xnnpack();

enum class OperatorKind : uint8_t {
  kOther,
  kFullyConnected,
  kConvolution,  // includes transposed convolutions
  kDepthwiseConvolution,
  kBatchMatrixMultiply,
  kUnary,
  kBinary,
  kCopy,  // includes reshapes
  kSoftmax,
  kTranspose,
  kAttention,
};

// An operator of a runtime, or a node that was fused away. Valid while the runtime exists.
struct RuntimeOperator {
  OperatorKind kind = OperatorKind::kOther;
  int type = 0;  // XNNPACK's type of the node
  uint32_t node = 0;
  std::span<const xnn_operator_t> objects;  // elements may be null
  std::span<const uint32_t> inputs;         // value ids; an invalid id for a missing input
  std::span<const uint32_t> outputs;

  // False for a node that was removed or fused into another node.
  bool runs() const { return objects[0] != nullptr; }
};

// A node of a subgraph. The id of a missing input or output is XNN_INVALID_VALUE_ID.
struct SubgraphNode {
  int type = 0;
  uint32_t input = 0;
  uint32_t second_input = 0;
  uint32_t output = 0;
};

// Returns the number of nodes in a subgraph. One call of xnn_define_*() may add several nodes.
uint32_t count_subgraph_nodes(xnn_subgraph_t subgraph);
SubgraphNode subgraph_node_at(xnn_subgraph_t subgraph, uint32_t index);
// True if `RuntimeOperator::node` is the index of the node in the subgraph. False if XNNPACK
// renumbers the nodes when it creates a runtime.
bool operators_keep_node_ids();

size_t operator_count(xnn_runtime_t runtime);
RuntimeOperator operator_at(xnn_runtime_t runtime, size_t index);

struct RuntimeValue {
  std::span<const size_t> dims;
  xnn_datatype datatype = xnn_datatype_invalid;
  bool is_constant = false;
  void* data = nullptr;
  // Scale and zero point of a tensor that is quantized as a whole; otherwise null.
  const float* scale = nullptr;
  const int32_t* zero_point = nullptr;
  // Quantization parameters of each row of a dynamically quantized value; otherwise null. A row
  // spans the last `row_dims` dims.
  const xnn_quantization_params* rows = nullptr;
  size_t row_dims = 0;
};

size_t value_count(xnn_runtime_t runtime);
RuntimeValue value_at(xnn_runtime_t runtime, uint32_t id);
void set_value_shape(xnn_runtime_t runtime, uint32_t id, const Shape& shape, size_t element_size);

pthreadpool_t threads_of(xnn_runtime_t runtime);
void stop_profiling(xnn_runtime_t runtime);

// Computes the sizes of all values and of the operators' temporary memory from the sizes of the
// inputs. Unlike xnn_reshape_runtime(), does not assign memory to the values.
//
// In a runtime with threads, calls `may_use_threads` for each operator when the shapes of the
// operator's values are known. If that call returns false, the operator's tasks and temporary
// memory are sized for one thread, and the operator must run without threads.
xnn_status reshape_operators(xnn_runtime_t runtime,
                             bool (*may_use_threads)(xnn_runtime_t, const RuntimeOperator&));
// Bytes that a value or an operator's temporary memory needs in the workspace, including the bytes
// that kernels may read past the end. May be 0.
size_t workspace_bytes_of_value(xnn_runtime_t runtime, uint32_t id);
size_t workspace_bytes_of_operator(xnn_runtime_t runtime, size_t index);
void set_value_memory(xnn_runtime_t runtime, uint32_t id, std::byte* memory);
void set_operator_memory(xnn_runtime_t runtime, size_t index, std::byte* memory);
// Marks the runtime's memory plan as complete, after the memory of all values and operators was
// set. From then on, grow_workspace() also moves the values of this runtime.
void keep_memory_plan(xnn_runtime_t runtime);
// Forces XNNPACK to plan all memory of the runtime again at the next reshape (workspace.h).
void drop_memory_plan(xnn_runtime_t runtime);
// True if XNNPACK itself updates the shape of a node's second output.
bool sets_second_outputs();
// True if XNNPACK detects failed allocations of its lists for memory planning.
bool checks_plan_lists();

size_t workspace_bytes(xnn_workspace_t workspace);
std::byte* workspace_memory(xnn_workspace_t workspace);
// Gives the workspace `bytes` uninitialized bytes, and updates all runtimes in it that have a
// memory plan. If memory runs out, returns out_of_memory and changes nothing.
xnn_status grow_workspace(xnn_workspace_t workspace, size_t bytes);
// Makes the operators rebuild their lists and buffers at the next reshape (resizing.h).
void forget_operator_buffers(xnn_runtime_t runtime);

struct StridedCopy {
  size_t row_bytes;
  size_t row_count;
  size_t* rows_per_task;
};
// Empty if the operator does not copy rows with a fixed stride, and after set_strided_copy().
std::optional<StridedCopy> strided_copy_of(xnn_operator_t op);
// A function that copies `count` rows, starting at row `first`. strided_rows() reads `context`.
using CopyRows = void (*)(const void* context, size_t first, size_t count);
void set_strided_copy(xnn_operator_t op, CopyRows copy);
struct StridedRows {
  const std::byte* from;
  std::byte* to;
  size_t from_stride;
  size_t to_stride;
};
StridedRows strided_rows(const void* context);

// Sizes of a transposition of 4-byte elements. The tasks of the operator write tiles of `tile[0]`
// rows and `tile[1]` columns of the result.
struct TiledTransposition {
  size_t rows;
  size_t columns;
  size_t* tile;
};
// Empty for other operators, and with XNNPACK 92a7ad5, whose thread pool chooses the tiles.
std::optional<TiledTransposition> tiled_transposition_of(xnn_operator_t op);

// The values that XNNPACK passes to its int4 products and to the functions that pack int4 weights.
struct Int4PackingParams {
  int8_t input_zero_point;
  uint8_t weight_zero_point;
};
struct Int4ProductParams {
  float min;
  float max;
  size_t block;
};
struct RowQuantization {
  int32_t zero_point;
  float scale;
};

// A packing function for blocks of int4 weights, with XNNPACK's parameters (int4_packing.h).
using PackInt4 = void (*)(size_t groups, size_t rows, size_t columns, size_t nr, size_t kr,
                          size_t sr, size_t block, const void* kernel, const void* bias,
                          const void* scales, void* packed, size_t extra_bytes_of_block,
                          size_t extra_bytes_of_row, const void* params);
PackInt4 xnnpack_int4_packing();
// Replaces XNNPACK's packing function for int4 weights. Returns false if this build cannot do so.
bool set_int4_packing(PackInt4 pack);

// A function with the parameters of XNNPACK's packing functions for f32 weights (f32_packing.h).
using PackF32 = void (*)(size_t groups, size_t rows, size_t columns, size_t nr, size_t kr,
                         size_t sr, const void* kernel, const void* bias, const void* scale,
                         void* packed, size_t extra_bytes, const void* params);
// Replaces and returns the function that packs the f32 weights of layers with many outputs. Returns
// null if this build cannot replace that function.
PackF32 replace_f32_packing(PackF32 pack);

// A product of int8 rows and int4 weights, with XNNPACK's parameters (int4_products.h).
using MultiplyInt4 = void (*)(size_t rows, size_t columns, size_t depth, const int8_t* input,
                              size_t input_stride, const void* weights, float* output,
                              size_t output_row_stride, size_t output_tile_stride,
                              const Int4ProductParams* params, const RowQuantization* quantization);
bool has_avx512_vnni();
// Replaces XNNPACK's products of int8 rows and int4 weights. `multiply` computes up to `rows` rows
// per call. The weights are packed in tiles of `columns` columns. In a tile, 2^log2_depth_step
// values of the same column are adjacent.
void set_int4_products(MultiplyInt4 multiply, size_t rows, size_t columns, size_t log2_depth_step);

// A function with the parameters of XNNPACK's f32 products (f32_products.h). `depth_bytes` is the
// size of a row of the input.
struct F32ProductParams {
  float min;
  float max;
};
using MultiplyF32 = void (*)(size_t rows, size_t columns, size_t depth_bytes, const float* input,
                             size_t input_stride, const float* weights, float* output,
                             size_t output_row_stride, size_t output_tile_stride,
                             const F32ProductParams* params);
// Replaces and returns XNNPACK's function for f32 products of up to `rows` rows. Returns null and
// replaces nothing if XNNPACK's tiles do not have `rows` rows and `columns` columns, or if this
// build cannot replace the function.
MultiplyF32 replace_f32_products(MultiplyF32 multiply, size_t rows, size_t columns);

}  // namespace vitrine::xnnpack
