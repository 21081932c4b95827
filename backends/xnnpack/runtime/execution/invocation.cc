#include "backends/xnnpack/runtime/execution/invocation.h"

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

#include <algorithm>

#include "backends/xnnpack/runtime/execution/row_copies.h"
#include "runtime/platform/clock.h"

extern "C" {
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack {
namespace {

// Speed of one thread in operations per nanosecond: medians of the operators of 18 models on a Xeon
// with AVX-512 (2.3 GHz). A slower processor could use threads for smaller operators than these
// constants allow.
constexpr double kProductsPerNs = 64;
constexpr double kNarrowProductsPerNs = 160;  // weights of 8 and 4 bits
constexpr double kDynamicProductsPerNs = 12;  // the right operand is packed in each run
constexpr double kDepthwiseProductsPerNs = 16;
constexpr double kLargeWindowProductsPerNs = 1;  // depthwise convolutions without a special kernel
constexpr double kMaxKernelWindow = 25;
constexpr double kElementsPerNs = 12;
constexpr double kTransposedPerNs = 6;
constexpr double kFunctionsPerNs = 4;
constexpr double kExponentialsPerNs = 1;

double elements(const xnn_shape& shape) {
  double count = 1;
  for (size_t i = 0; i < shape.num_dims; ++i) count *= static_cast<double>(shape.dim[i]);
  return count;
}
double dim(const xnn_shape& shape, size_t i) {
  return i < shape.num_dims ? std::max(static_cast<double>(shape.dim[i]), 1.0) : 1;
}
double last_dim(const xnn_shape& shape) {
  return shape.num_dims == 0 ? 1 : dim(shape, shape.num_dims - 1);
}

class Work {
 public:
  Work(const xnn_runtime& runtime, const xnn_operator_data& op) : runtime_(runtime), op_(op) {}

  // Returns the time on one thread, in nanoseconds.
  double estimate() const {
    const double moved = elements_moved() / kElementsPerNs;
    switch (op_.type) {
      case xnn_node_type_fully_connected:
      case xnn_node_type_fully_connected_sparse:
        return moved + elements(input(1)) / kElementsPerNs +
               products(elements(input(1)) / last_dim(output())) / products_per_ns();
      case xnn_node_type_convolution_2d:
      case xnn_node_type_deconvolution_2d:
        return moved + products(elements(input(1)) / dim(input(1), 0)) / products_per_ns();
      case xnn_node_type_depthwise_convolution_2d: {
        const double window = elements(input(1)) / dim(input(1), 3);
        return moved + products(window) / (window > kMaxKernelWindow ? kLargeWindowProductsPerNs
                                                                     : kDepthwiseProductsPerNs);
      }
      case xnn_node_type_batch_matrix_multiply:
        return moved + products(last_dim(input(0))) / kDynamicProductsPerNs;
      case xnn_node_type_unary_elementwise:
        return moved + elements(output()) / kFunctionsPerNs;
      case xnn_node_type_softmax:
        return moved + elements(output()) / kExponentialsPerNs;
      case xnn_node_type_static_transpose:
        return elements_moved() / kTransposedPerNs;
      case xnn_node_type_scaled_dot_product_attention:
        return ThreadPool::kMinWorkNs;
      default:
        return moved;
    }
  }

 private:
  const xnn_value& value(uint32_t id) const { return runtime_.values[id]; }
  const xnn_shape& input(size_t i) const { return value(op_.inputs[i]).shape; }
  const xnn_shape& output() const { return value(op_.outputs[0]).shape; }

  double elements_moved() const {
    double count = 0;
    for (uint32_t i = 0; i < op_.num_inputs; ++i) {
      if (op_.inputs[i] >= runtime_.num_values) continue;  // a missing optional input
      const xnn_value& from = value(op_.inputs[i]);
      if (from.allocation_type != xnn_allocation_type_static) count += elements(from.shape);
    }
    for (uint32_t i = 0; i < op_.num_outputs; ++i) count += elements(value(op_.outputs[i]).shape);
    return count;
  }
  double products(double each) const { return elements(output()) * each; }
  double products_per_ns() const {
    const xnn_datatype weights = value(op_.inputs[1]).datatype;
    const bool is_wide = weights == xnn_datatype_fp32 || weights == xnn_datatype_fp16;
    return is_wide ? kProductsPerNs : kNarrowProductsPerNs;
  }

  const xnn_runtime& runtime_;
  const xnn_operator_data& op_;
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

Error Invocation::prepare(xnn_runtime_t runtime, ThreadPool* pool) {
  use_fast_row_copies(runtime);
  objects_.clear();
  object_counts_.clear();
  work_ns_.clear();
  pool_ = nullptr;
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    const xnn_operator_data& data = runtime->opdata[i];
    if (data.operator_objects[0] == nullptr) continue;  // it was fused into another
    uint8_t count = 0;
    for (const xnn_operator_t object : data.operator_objects) {
      if (object == nullptr) continue;
      VITRINE_RETURN_IF_ERROR(objects_.push_back(object));
      ++count;
    }
    VITRINE_RETURN_IF_ERROR(object_counts_.push_back(count));
    const double work = runtime->threadpool == nullptr ? 0 : Work(*runtime, data).estimate();
    const bool is_large = work >= ThreadPool::kMinWorkNs;
    if (is_large) pool_ = pool;
    VITRINE_RETURN_IF_ERROR(work_ns_.push_back(
        is_large ? static_cast<uint32_t>(std::min(work, double{ThreadPool::kLargeWorkNs})) : 0));
  }
  return Error();
}

xnn_status Invocation::run(xnn_runtime_t runtime, std::span<uint64_t> ends, const StopSignal* stop,
                           OperatorListener* listener) {
  if (pool_ != nullptr || !ends.empty()) return run_each(runtime->threadpool, ends, stop, listener);
  return run_objects(objects_, nullptr, stop);
}

// A separate function, so that run() above stays short.
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

#else

namespace vitrine::xnnpack {

Error Invocation::prepare(xnn_runtime_t, ThreadPool*) { return Error(); }
xnn_status Invocation::run(xnn_runtime_t runtime, std::span<uint64_t>, const StopSignal*,
                           OperatorListener*) {
  return xnn_invoke_runtime(runtime);
}

}  // namespace vitrine::xnnpack

#endif
