#include "backends/xnnpack/runtime/weights/f32_packing.h"

#include <algorithm>
#include <cstddef>

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "backends/xnnpack/runtime/weights/packing_threads.h"
#include "vitrine/thread_pool.h"

namespace vitrine::xnnpack {
namespace {

PackF32 xnnpack_packing = nullptr;

// Packs a matrix in tiles of `nr` rows. Several threads can pack different tiles.
struct F32Packing {
  size_t rows, columns, nr, kr, sr;
  const float* kernel;
  const float* bias;  // may be null
  float* packed;

  void pack_one(size_t tile) const {
    const size_t first = tile * nr;
    xnnpack_packing(1, std::min(nr, rows - first), columns, nr, kr, sr, kernel + first * columns,
                    bias != nullptr ? bias + first : nullptr, nullptr,
                    packed + first * (columns + 1), 0, nullptr);
  }
};

constexpr size_t kFloatsPerNs = 1;  // rough speed of one thread

void pack(size_t groups, size_t rows, size_t columns, size_t nr, size_t kr, size_t sr,
          const void* kernel, const void* bias, const void* scale, void* packed, size_t extra_bytes,
          const void* params) {
  ThreadPool* const pool = PackingThreads::pool();
  if (pool == nullptr || groups != 1 || extra_bytes != 0 || columns % (kr * sr) != 0 ||
      !pool->should_parallelize(rows * columns / kFloatsPerNs)) {
    xnnpack_packing(groups, rows, columns, nr, kr, sr, kernel, bias, scale, packed, extra_bytes,
                    params);
    return;
  }
  F32Packing packing{rows,
                     columns,
                     nr,
                     kr,
                     sr,
                     static_cast<const float*>(kernel),
                     static_cast<const float*>(bias),
                     static_cast<float*>(packed)};
  pool->run((rows + nr - 1) / nr,
            [](void* self, size_t tile) { static_cast<const F32Packing*>(self)->pack_one(tile); },
            &packing);
}

}  // namespace

void use_parallel_f32_packing() { xnnpack_packing = replace_f32_packing(&pack); }

}  // namespace vitrine::xnnpack
