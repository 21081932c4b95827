// Runs f32 and f16 convolutions with 3 x 3 windows, stride 1 and dilation 1 by Winograd's algorithm
// (kernels/optimized/simd/winograd.h). All sums are in f32.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "backends/xnnpack/runtime/reader/graph.h"
#include "backends/xnnpack/runtime/weights/packed_weights.h"
#include "kernels/optimized/simd/winograd.h"
#include "runtime/core/checked_vector.h"

namespace vitrine {
class ThreadPool;
}  // namespace vitrine

namespace vitrine::xnnpack {

struct OwnKernelLimits {
  uint64_t max_bytes;    // memory that may be allocated; a copy that only makes a kernel faster
                         // must fit
  bool has_fixed_sizes;  // true if the delegate runs only with the declared sizes
  size_t threads;        // number of threads in the runtime's pool; 1 without a pool
};

}  // namespace vitrine::xnnpack

namespace vitrine::xnnpack::own_kernels {

struct WinogradSize {
  int64_t images, height, width;
};
// Returns the time of XNNPACK's kernel per multiplication, relative to its f32 kernel. Returns 0
// for kernels with f16 arithmetic (ARM, AVX512-FP16), which were not measured.
double winograd_direct_time(bool is_half);

// Returns the tile size for a convolution, 2 or 4. Returns 0 if Winograd's algorithm is not clearly
// faster or if `direct`, the result of winograd_direct_time(), is 0. The result depends only on the
// arguments, not on the device.
int64_t choose_winograd_tile(int64_t in_channels, int64_t out_channels, const WinogradSize& size,
                             double direct);

class Winograd {
 public:
  // Chooses the convolutions that are faster with Winograd's algorithm at their declared sizes,
  // within `limits`. With limits.has_fixed_sizes, the chosen nodes become kOwnWithoutTables
  // (Node::weights). Call once, before the runtime is built.
  Error plan(Graph& graph, std::span<const Shape> shapes, const OwnKernelLimits& limits);
  // Transforms the weights of the chosen convolutions on the threads of `pool`, which may be null.
  // Call once, before the first reshape.
  Error load(xnn_runtime_t runtime, ThreadPool* pool, PackedWeights& weights);
  // True if only Vitrine's kernel can run the operator, because the weights are not packed.
  bool runs_always(xnn_operator_t op) const;
  void drop_tables(xnn_runtime_t runtime) const;
  // Makes the operators call Vitrine's kernel and writes the kernel's name to their elements of
  // `names`. `names` has one element for each operator that runs. Skips operators without
  // shapes and operators with nothing to compute. An operator with XNNPACK's weights is also
  // skipped if choose_winograd_tile() now returns another tile size than at load.
  void use(xnn_runtime_t runtime, const char** names);

  size_t weight_bytes() const { return weight_bytes_; }
  size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Layer {
    size_t op;  // index in the runtime
    xnn_operator_t op_object;
    optimized::simd::WinogradShape shape;
    const float* filter;
    bool is_half;  // true for f16 images; the filter holds floats
    bool runs_always;
    int64_t tiles;          // maximum number of tiles in a task
    float* made;            // weights that load() transforms, or null
    const float* weights;   // one bias per output channel, then the transformed weights
    float* scratch;         // scratch memory of the first thread
    size_t thread_scratch;  // number of floats per thread
    int64_t task_tiles;
    int64_t task_panels;
  };
  struct Transformation;

  template <class T>
  static void run_task(const void* context, size_t thread, size_t tiles, size_t panels);

  CheckedVector<const std::byte*> filters_;  // filters of the chosen convolutions, sorted
  CheckedVector<Layer> layers_;
  std::unique_ptr<void, Free> scratch_;
  int64_t threads_ = 1;
  size_t weight_bytes_ = 0;  // number of bytes that plan() computed
  size_t scratch_bytes_ = 0;
};

}  // namespace vitrine::xnnpack::own_kernels
