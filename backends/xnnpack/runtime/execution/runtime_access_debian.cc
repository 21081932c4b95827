#include <cpuinfo.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"

extern "C" {
#include "xnnpack/common.h"
#include "xnnpack/compute.h"
#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/operator.h"
#include "xnnpack/pack.h"
#include "xnnpack/subgraph.h"

void xnn_compute_univector_strided(const univector_strided_context* context, size_t first,
                                   size_t count);
}

namespace vitrine::xnnpack {
namespace {

using XnnValue = xnn_value;
using RowsTask = pthreadpool_task_1d_tile_1d_t;
constexpr xnn_parallelization_type kRowsTaskType = xnn_parallelization_type_1d_tile_1d;

static_assert(std::is_same_v<decltype(xnn_operator::zero_buffers), void**>);

bool is_attention(xnn_node_type type) { return type == xnn_node_type_scaled_dot_product_attention; }

RowsTask& rows_task(compute_parameters& compute) { return compute.task_1d_tile_1d; }

void forget_zero_buffers(xnn_operator& op) {
  if (op.zero_buffers == nullptr) return;
  const xnn_allocator& heap = reserving_allocator();
  // Keeps zero_buffers[0], because the operator owns this buffer.
  for (size_t k = 1; k < op.batch_size; ++k) {
    heap.aligned_deallocate(heap.context, op.zero_buffers[k]);
  }
  heap.deallocate(heap.context, op.zero_buffers);
  op.zero_buffers = nullptr;
  op.input_height = op.input_width = 0;  // makes XNNPACK detect a change
  op.last_input_height = op.last_input_width = 0;
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
      op.last_input_height = op.last_input_width = 0;
      break;
    case xnn_node_type_static_mean:
      op.channels = 0;  // makes XNNPACK allocate the zero buffer again
      break;
    default:
      break;
  }
}

// The number of bytes after the data of a dynamically quantized value, which hold the quantization
// parameters of its rows. Returns 0 for other values.
size_t bytes_of_rows(const XnnValue& value) {
  if (value.datatype != xnn_datatype_qdint8) return 0;
  return xnn_tensor_get_rounded_dynamic_quant_param_size(&value);
}

void place_rows(XnnValue& value, std::byte* memory) {
  if (value.datatype != xnn_datatype_qdint8) return;
  value.quantization.dynamic_params = reinterpret_cast<xnn_quantization_params*>(memory);
}

#if XNN_ARCH_X86 || XNN_ARCH_X86_64
bool has_vnni(const xnn_hardware_config* hardware) {
  return hardware != nullptr && hardware->use_x86_avx512vnni;
}
#endif

void products_were_set(xnn_gemm_config&) {}

}  // namespace

#include "backends/xnnpack/runtime/execution/runtime_access.inc"

void prepare_xnnpack() {}
std::optional<TiledTransposition> tiled_transposition_of(xnn_operator_t op) {
  // Element i has i loops around the two tiled loops.
  constexpr xnn_parallelization_type kTypes[] = {
      xnn_parallelization_type_2d_tile_2d, xnn_parallelization_type_3d_tile_2d,
      xnn_parallelization_type_4d_tile_2d, xnn_parallelization_type_5d_tile_2d,
      xnn_parallelization_type_6d_tile_2d};
  compute_parameters& compute = op->compute[0];
  const auto* const type = std::ranges::find(kTypes, compute.type);
  if (op->type != xnn_operator_type_transpose_nd_x32 || type == std::end(kTypes) ||
      op->context.transpose.const_size_ukernel !=
          xnn_init_transpose_config()->x32.const_size_ukernel) {
    return std::nullopt;
  }
  const size_t* const range = compute.range + (type - std::begin(kTypes));
  return TiledTransposition{range[0], range[1], compute.tile};
}
bool sets_second_outputs() { return false; }
bool checks_plan_lists() { return false; }
bool operators_keep_node_ids() { return true; }

bool set_int4_packing(PackInt4 pack) {
  // The const_cast is safe: the configurations are variables inside XNNPACK.
  for (const xnn_gemm_config* config :
       {xnn_init_qd8_f32_qb4w_gemm_config(), xnn_init_qd8_f16_qb4w_gemm_config()}) {
    if (config == nullptr || config->pack_gemm_goi_bl != xnnpack_int4_packing()) continue;
    const_cast<xnn_gemm_config*>(config)->pack_gemm_goi_bl = pack;
  }
  return true;
}

PackF32 replace_f32_packing(PackF32 pack) {
  // The const_cast is safe: the configuration is a variable inside XNNPACK.
  auto* const config = const_cast<xnn_gemm_config*>(xnn_init_f32_gemm_config());
  if (config == nullptr || config->pack_gemm_goi == nullptr) return nullptr;
  return reinterpret_cast<PackF32>(
      std::exchange(config->pack_gemm_goi, reinterpret_cast<xnn_packw_gemm_goi_ukernel_fn>(pack)));
}

static_assert(sizeof(F32ProductParams) == sizeof(xnn_f32_minmax_params) &&
              offsetof(F32ProductParams, max) == offsetof(xnn_f32_minmax_params, scalar.max));

MultiplyF32 replace_f32_products(MultiplyF32 multiply, size_t rows, size_t columns) {
  auto* const config = const_cast<xnn_gemm_config*>(xnn_init_f32_gemm_config());
  if (config == nullptr || config->mr != rows || config->nr != columns || config->log2_kr != 0 ||
      config->log2_sr != 0) {
    return nullptr;
  }
  return reinterpret_cast<MultiplyF32>(
      std::exchange(config->minmax.gemm[rows - 1].function[XNN_UARCH_DEFAULT],
                    reinterpret_cast<xnn_gemm_ukernel_fn>(multiply)));
}

}  // namespace vitrine::xnnpack
