#include <iterator>
#include <type_traits>

#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"

extern "C" {
#include <src/operators/fingerprint_id.h>
#include "xnnpack/common.h"
#include "xnnpack/compute.h"
#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/operator.h"
#include "xnnpack/pack.h"
#include "xnnpack/subgraph.h"
}
#include <experimental.h>

namespace vitrine::xnnpack {
namespace {

using XnnValue = xnn_runtime_value;
using RowsTask = pthreadpool_task_1d_tile_1d_dynamic_t;
constexpr xnn_parallelization_type kRowsTaskType = xnn_parallelization_type_1d_tile_1d_dynamic;

static_assert(std::is_same_v<decltype(xnn_operator::convolution_op), xnn_convolution_operator*>);
static_assert(std::is_same_v<decltype(xnn_convolution_operator::zero_buffers), void**>);

bool is_attention(xnn_node_type) { return false; }

RowsTask& rows_task(compute_parameters& compute) { return compute.task_1d_tile_1d_dynamic; }

void forget_zero_buffers(xnn_operator& op) {
  xnn_convolution_operator* const state = op.convolution_op;
  if (state == nullptr || state->zero_buffers == nullptr) return;
  const xnn_allocator& heap = reserving_allocator();
  // Keeps zero_buffers[0], because the operator owns this buffer.
  for (size_t k = 1; k < state->valid_batch_size; ++k) {
    heap.aligned_deallocate(heap.context, state->zero_buffers[k]);
  }
  heap.deallocate(heap.context, state->zero_buffers);
  state->zero_buffers = nullptr;
  state->valid_batch_size = 0;
  // When XNNPACK deletes the operator, it frees `batch_size` buffers, even if a reshape failed
  // before it allocated these buffers.
  op.batch_size = 0;
  state->input_height = state->input_width = 0;  // makes XNNPACK detect a change
  state->last_input_height = state->last_input_width = 0;
}

void forget_tables(xnn_node_type type, xnn_operator& op) {
  const xnn_allocator& heap = reserving_allocator();
  switch (type) {
    case xnn_node_type_average_pooling_2d:
      // If the next reshape freed zero_buffer and could not allocate another buffer, XNNPACK would
      // keep a pointer to the freed buffer.
      heap.aligned_deallocate(heap.context, op.zero_buffer);
      op.zero_buffer = nullptr;
      [[fallthrough]];
    case xnn_node_type_max_pooling_2d:
    case xnn_node_type_static_resize_bilinear_2d:
    case xnn_node_type_deconvolution_2d:
      if (op.convolution_op == nullptr) return;
      op.convolution_op->last_input_height = op.convolution_op->last_input_width = 0;
      break;
    case xnn_node_type_static_mean:
      op.channels = 0;  // makes XNNPACK allocate the zero buffer again
      break;
    default:
      break;
  }
}

bool has_rows(const XnnValue& value) {
  return value.datatype == xnn_datatype_qdint8 || value.datatype == xnn_datatype_qduint8;
}

// The number of bytes after the data of a dynamically quantized value, which hold the quantization
// parameters and the sums of its rows. Returns 0 for other values.
size_t bytes_of_rows(const XnnValue& value) {
  if (!has_rows(value)) return 0;
  return xnn_tensor_get_rounded_dynamic_quant_param_size(&value) +
         xnn_tensor_get_rounded_row_sum_size(&value);
}

void place_rows(XnnValue& value, std::byte* memory) {
  if (!has_rows(value)) return;
  value.quantization.dynamic_params = reinterpret_cast<xnn_quantization_params*>(memory);
  value.quantization.row_sum =
      reinterpret_cast<float*>(memory + xnn_tensor_get_rounded_dynamic_quant_param_size(&value));
}

#if XNN_ARCH_X86 || XNN_ARCH_X86_64
bool has_vnni(const xnn_hardware_config* hardware) {
  return hardware != nullptr && (hardware->arch_flags & xnn_arch_x86_avx512vnni) != 0;
}
#endif

// Only XNNPACK's own matrix products can read the layout of its second packing function.
void products_were_set(xnn_gemm_config& config) { config.pack_gemm_goi_bl = nullptr; }

}  // namespace

#include "backends/xnnpack/runtime/execution/runtime_access.inc"

// Sets all fingerprints of weight layouts in advance. To compute a fingerprint, XNNPACK would pack
// random weights without checking their allocation. The values do not matter, because files of
// packed weights have their own digest (weights_file.h). Test:
// FirstLoadFaultWalkTest.ReportsFailedAllocations.
void prepare_xnnpack() {
  constexpr uint32_t kIds[] = {
#define XNN_FINGERPRINT_ID(op, in, out, ...) XNN_FINGERPRINT_ID_NAME(op, in, out, __VA_ARGS__),
#include <src/operators/fingerprint_id.h.inc>
#undef XNN_FINGERPRINT_ID
  };
  static_assert(std::size(kIds) <= 256);  // size of XNNPACK's table
  for (const uint32_t id : kIds) xnn_set_fingerprint({id, 1});
}

std::optional<TiledTransposition> tiled_transposition_of(xnn_operator_t) { return std::nullopt; }
bool sets_second_outputs() { return true; }
bool checks_plan_lists() { return true; }
bool operators_keep_node_ids() { return false; }

// This version of XNNPACK needs a packing function that also writes the scales and the bias.
bool set_int4_packing(PackInt4) { return false; }
PackF32 replace_f32_packing(PackF32) { return nullptr; }

// This version of XNNPACK itself chooses narrower tiles.
MultiplyF32 replace_f32_products(MultiplyF32, size_t, size_t) { return nullptr; }

}  // namespace vitrine::xnnpack
