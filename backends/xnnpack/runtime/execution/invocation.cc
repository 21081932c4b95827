#include "backends/xnnpack/runtime/execution/invocation.h"

#include <algorithm>

#include "backends/xnnpack/runtime/execution/row_copies.h"
#include "runtime/platform/clock.h"

namespace vitrine::xnnpack {
namespace {

// Estimated speeds of one thread, in operations per nanosecond. Each speed is a median over the
// operators of 18 models on a 2.3 GHz Xeon with AVX-512. Exception: kProductsPerNs
// is below the median of 64, because small layers reach only 36 to 44 on a Zen 4.
constexpr double kProductsPerNs = 32;
constexpr double kNarrowProductsPerNs = 160;     // for weights of 8 and 4 bits
constexpr double kDynamicProductsPerNs = 12;     // XNNPACK packs the right operand in each run
constexpr double kOwnDynamicProductsPerNs = 24;  // Vitrine's kernel does not pack
constexpr double kDepthwiseProductsPerNs = 16;
constexpr double kLargeWindowProductsPerNs = 1;  // for depthwise convolutions without a special
                                                 // kernel
constexpr double kMaxKernelWindow = 25;
constexpr double kElementsPerNs = 12;
constexpr double kTransposedPerNs = 6;
constexpr double kFunctionsPerNs = 4;
constexpr double kExponentialsPerNs = 1;
constexpr double kAttentionNs = 8'000;  // a guess, because its time depends on the position

using Dims = std::span<const size_t>;

double elements(Dims dims) {
  double count = 1;
  for (const size_t dim : dims) count *= static_cast<double>(dim);
  return count;
}
double dim(Dims dims, size_t i) {
  return i < dims.size() ? std::max(static_cast<double>(dims[i]), 1.0) : 1;
}
double last_dim(Dims dims) { return dims.empty() ? 1 : dim(dims, dims.size() - 1); }

class Work {
 public:
  Work(xnn_runtime_t runtime, const RuntimeOperator& op, bool is_own)
      : runtime_(runtime), op_(op), is_own_(is_own) {}

  // Returns the estimated time of an operator on one thread, in nanoseconds.
  double estimate() const {
    const double moved = elements_moved() / kElementsPerNs;
    switch (op_.kind) {
      case OperatorKind::kFullyConnected:
        return moved + elements(input(1)) / kElementsPerNs +
               products(elements(input(1)) / last_dim(output())) / products_per_ns();
      case OperatorKind::kConvolution:
        return moved + products(elements(input(1)) / dim(input(1), 0)) / products_per_ns();
      case OperatorKind::kDepthwiseConvolution: {
        const double window = elements(input(1)) / dim(input(1), 3);
        const bool has_kernel = is_own_ || window <= kMaxKernelWindow;
        return moved + products(window) /
                           (has_kernel ? kDepthwiseProductsPerNs : kLargeWindowProductsPerNs);
      }
      case OperatorKind::kBatchMatrixMultiply:
        return moved + products(last_dim(input(0))) /
                           (is_own_ ? kOwnDynamicProductsPerNs : kDynamicProductsPerNs);
      case OperatorKind::kUnary:
        return moved + elements(output()) / kFunctionsPerNs;
      case OperatorKind::kSoftmax:
        return moved + elements(output()) / kExponentialsPerNs;
      case OperatorKind::kTranspose:
        return elements_moved() / kTransposedPerNs;
      case OperatorKind::kAttention:
        return kAttentionNs;
      case OperatorKind::kBinary:
      case OperatorKind::kCopy:
      case OperatorKind::kOther:
        break;
    }
    return moved;
  }

 private:
  Dims input(size_t i) const { return value_at(runtime_, op_.inputs[i]).dims; }
  Dims output() const { return value_at(runtime_, op_.outputs[0]).dims; }

  double elements_moved() const {
    double count = 0;
    for (const uint32_t id : op_.inputs) {
      if (id >= value_count(runtime_)) continue;  // a missing optional input
      const RuntimeValue from = value_at(runtime_, id);
      if (!from.is_constant) count += elements(from.dims);
    }
    for (const uint32_t id : op_.outputs) count += elements(value_at(runtime_, id).dims);
    return count;
  }
  double products(double each) const { return elements(output()) * each; }
  double products_per_ns() const {
    const xnn_datatype weights = value_at(runtime_, op_.inputs[1]).datatype;
    const bool is_wide = weights == xnn_datatype_fp32 || weights == xnn_datatype_fp16;
    return is_wide ? kProductsPerNs : kNarrowProductsPerNs;
  }

  xnn_runtime_t runtime_;
  const RuntimeOperator& op_;
  bool is_own_;
};

bool must_stop(const StopSignal* stop) { return stop != nullptr && stop->is_set(); }

xnn_status run_objects(std::span<const xnn_operator_t> objects, pthreadpool_t threads,
                       const StopSignal* stop) {
  for (const xnn_operator_t object : objects) {
    if (must_stop(stop)) break;
    const xnn_status status = xnn_run_operator(object, threads);
    if (status != xnn_status_success) return status;
  }
  return xnn_status_success;
}

}  // namespace

bool may_use_threads(xnn_runtime_t runtime, const RuntimeOperator& op) {
  return threads_of(runtime) != nullptr &&
         Work(runtime, op, false).estimate() >= ThreadPool::kMinWorkNs;
}

Error Invocation::prepare(xnn_runtime_t runtime, ThreadPool* pool,
                          std::span<const char* const> own_kernels) {
  use_fast_row_copies(runtime);
  objects_.clear();
  object_counts_.clear();
  work_ns_.clear();
  pool_ = nullptr;
  for (size_t i = 0; i < operator_count(runtime); ++i) {
    const RuntimeOperator op = operator_at(runtime, i);
    if (!op.runs()) continue;  // the node was fused into another node
    uint8_t count = 0;
    for (const xnn_operator_t object : op.objects) {
      if (object == nullptr) continue;
      VITRINE_RETURN_IF_ERROR(objects_.push_back(object));
      ++count;
    }
    VITRINE_RETURN_IF_ERROR(object_counts_.push_back(count));
    const size_t index = object_counts_.size() - 1;
    const bool is_own = index < own_kernels.size() && own_kernels[index] != nullptr;
    const double work = may_use_threads(runtime, op) ? Work(runtime, op, is_own).estimate() : 0;
    const bool is_large = work >= ThreadPool::kMinWorkNs;
    if (is_large) pool_ = pool;
    VITRINE_RETURN_IF_ERROR(work_ns_.push_back(
        is_large ? static_cast<uint32_t>(std::min(work, double{ThreadPool::kLargeWorkNs})) : 0));
  }
  return Error();
}

xnn_status Invocation::run(xnn_runtime_t runtime, std::span<uint64_t> ends, const StopSignal* stop,
                           OperatorListener* listener) {
  if (pool_ != nullptr || !ends.empty()) {
    return run_each(threads_of(runtime), ends, stop, listener);
  }
  if (!can_access_runtimes()) {
    return must_stop(stop) ? xnn_status_success : xnn_invoke_runtime(runtime);
  }
  return run_objects(objects_, nullptr, stop);
}

// This function is separate, so that the code of run() stays short.
[[gnu::noinline]] xnn_status Invocation::run_each(pthreadpool_t threads, std::span<uint64_t> ends,
                                                  const StopSignal* stop,
                                                  OperatorListener* listener) {
  uint64_t listener_ticks = 0;
  std::span<const xnn_operator_t> left = objects_;
  for (size_t i = 0; i < object_counts_.size(); ++i) {
    const std::span<const xnn_operator_t> objects = left.first(object_counts_[i]);
    left = left.subspan(objects.size());
    const bool in_parallel = work_ns_[i] != 0 && pool_->should_parallelize(work_ns_[i]);
    const xnn_status status = run_objects(objects, in_parallel ? threads : nullptr, stop);
    if (status != xnn_status_success) return status;
    const uint64_t end = i < ends.size() || listener != nullptr ? platform::ticks() : 0;
    if (i < ends.size()) ends[i] = end - listener_ticks;
    if (listener == nullptr) continue;
    if (must_stop(stop)) break;
    listener->finished(i);
    listener_ticks += platform::ticks() - end;
  }
  return xnn_status_success;
}

}  // namespace vitrine::xnnpack
