// Runs f32 convolutions with 3 x 3 windows, stride 1 and dilation 1 by Winograd's algorithm
// (kernels/optimized/simd/winograd.h) if that takes clearly less work than XNNPACK's sums.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "kernels/optimized/simd/winograd.h"
#include "runtime/core/checked_vector.h"

namespace vitrine {
class ThreadPool;
}  // namespace vitrine

namespace vitrine::xnnpack::own_kernels {

// The size of a convolution's result.
struct WinogradSize {
  int64_t images, height, width;
};
// Returns the size of the tiles, 2 or 4, or 0 if Winograd's algorithm is not clearly faster than
// sums of products. Depends only on its arguments, so that every device makes the same choice.
int64_t choose_winograd_tile(int64_t in_channels, int64_t out_channels, const WinogradSize& size);

class Winograd {
 public:
  // Transforms the weights of each convolution that Winograd makes faster at its current size,
  // while the transformed weights and a workspace fit in `max_bytes`. Uses the threads of `pool`,
  // which is the runtime's and may be null. Call once, at load.
  Error load(xnn_runtime_t runtime, ThreadPool* pool, uint64_t max_bytes);
  // Makes the operators call our kernel, and sets their elements of `names`, which has an element
  // per operator that runs. Skips operators that lack a size, and those whose tile
  // (choose_winograd_tile()) changed between load and the last reshape.
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
    int64_t tiles;          // maximum number in a task
    float* weights;         // one bias per output channel, then the transformed weights
    float* scratch;         // of the first thread
    size_t thread_scratch;  // floats per thread
    int64_t task_tiles;
    int64_t task_panels;
  };
  struct Transformation;

  static void run_task(const void* context, size_t thread, size_t tiles, size_t panels);

  CheckedVector<Layer> layers_;
  std::unique_ptr<void, Free> weights_;
  std::unique_ptr<void, Free> scratch_;
  int64_t threads_ = 1;
  size_t weight_bytes_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace vitrine::xnnpack::own_kernels
