#include "backends/xnnpack/runtime/execution/row_copies.h"

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

extern "C" {
#include "xnnpack/compute.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

void xnn_compute_univector_strided(const univector_strided_context* context, size_t first,
                                   size_t count);
}

namespace vitrine::xnnpack {
namespace {

template <size_t kBytes>
void copy_rows(const univector_strided_context* context, size_t first, size_t count) {
  const auto* from = static_cast<const std::byte*>(context->x) + first * context->x_stride;
  auto* to = static_cast<std::byte*>(context->y) + first * context->y_stride;
  for (; count != 0; --count, from += context->x_stride, to += context->y_stride) {
    std::memcpy(to, from, kBytes);
  }
}

// Minimum number of bytes that one task copies. XNNPACK makes each row a task if it uses several
// threads.
constexpr size_t kTileBytes = 4096;

constexpr decltype(&copy_rows<1>) kByLogBytes[] = {&copy_rows<1>, &copy_rows<2>, &copy_rows<4>,
                                                   &copy_rows<8>, &copy_rows<16>};

bool copies_rows(const xnn_operator& op) {
  const bool copies = op.type == xnn_operator_type_copy_nc_x8 ||
                      op.type == xnn_operator_type_copy_nc_x16 ||
                      op.type == xnn_operator_type_copy_nc_x32;
  return copies && op.compute[0].type == xnn_parallelization_type_1d_tile_1d &&
         op.compute[0].task_1d_tile_1d ==
             reinterpret_cast<pthreadpool_task_1d_tile_1d_t>(&xnn_compute_univector_strided);
}

}  // namespace

void use_fast_row_copies(xnn_runtime_t runtime) {
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    for (xnn_operator* op : runtime->opdata[i].operator_objects) {
      if (op == nullptr || !copies_rows(*op)) continue;
      const size_t bytes = std::max<size_t>(op->context.univector_strided.n, 1);
      auto& copies = op->compute[0];
      copies.tile[0] = std::max(copies.tile[0], std::min(kTileBytes / bytes, copies.range[0]));
      if (!std::has_single_bit(bytes) || bytes > 16) continue;
      copies.task_1d_tile_1d =
          reinterpret_cast<pthreadpool_task_1d_tile_1d_t>(kByLogBytes[std::countr_zero(bytes)]);
    }
  }
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

void use_fast_row_copies(xnn_runtime_t) {}

}  // namespace vitrine::xnnpack

#endif
