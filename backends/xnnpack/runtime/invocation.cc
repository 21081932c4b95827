#include "backends/xnnpack/runtime/invocation.h"

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

#include <algorithm>

#include "backends/xnnpack/runtime/row_copies.h"
#include "runtime/platform/clock.h"

extern "C" {
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack {
namespace {

// What one thread does in a nanosecond, roughly, and what an operator must take for several to pay:
// they are woken in one to five microseconds.
constexpr double kProductsPerNs = 32;
constexpr double kElementsPerNs = 4;
constexpr double kFunctionsPerNs = 1;
constexpr double kWorthThreads = 4000;
// Estimates up to this are replaced by the shortest of the first runs: processors and dtypes
// differ.
constexpr double kWorthTrials = 40'000;
constexpr uint32_t kTrials = 3;
constexpr uint32_t kRunsUntilAlone = 16;
// Copies of shorter rows are slower on several threads, which take them one by one.
constexpr double kRowWorthThreads = 64;

double elements(const xnn_shape& shape, size_t first = 0) {
  double count = 1;
  for (size_t i = first; i < shape.num_dims; ++i) count *= static_cast<double>(shape.dim[i]);
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

  // In nanoseconds of one thread.
  double estimate() const {
    const double moved = elements_moved() / kElementsPerNs;
    switch (op_.type) {
      case xnn_node_type_fully_connected:
      case xnn_node_type_fully_connected_sparse:
        return moved + products(elements(input(1)) / last_dim(output()));
      case xnn_node_type_convolution_2d:
      case xnn_node_type_deconvolution_2d:
        return moved + products(elements(input(1)) / dim(input(1), 0));
      case xnn_node_type_depthwise_convolution_2d:
        return moved + products(elements(input(1)) / dim(input(1), 3));
      case xnn_node_type_batch_matrix_multiply:
        return moved + products(last_dim(input(0)));
      case xnn_node_type_unary_elementwise:
      case xnn_node_type_softmax:
        return moved + elements(output()) / kFunctionsPerNs;
      case xnn_node_type_concatenate2:
      case xnn_node_type_concatenate3:
      case xnn_node_type_concatenate4:
      case xnn_node_type_concatenate5:
      case xnn_node_type_even_split2:
      case xnn_node_type_even_split3:
      case xnn_node_type_even_split4:
        return has_short_rows() ? 0 : moved;
      case xnn_node_type_scaled_dot_product_attention:
        return kWorthThreads;
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
      if (op_.inputs[i] >= runtime_.num_values) continue;  // an input that is not there
      const xnn_value& from = value(op_.inputs[i]);
      if (from.allocation_type != xnn_allocation_type_static) count += elements(from.shape);
    }
    for (uint32_t i = 0; i < op_.num_outputs; ++i) count += elements(value(op_.outputs[i]).shape);
    return count;
  }
  double products(double each) const { return elements(output()) * each / kProductsPerNs; }

  // Looks at the narrower side: the parts that are joined or split off.
  bool has_short_rows() const {
    const bool splits = op_.num_outputs > 1;
    const xnn_shape& part = splits ? output() : input(0);
    const auto rank = static_cast<int32_t>(part.num_dims);
    const int32_t axis = op_.axis < 0 ? op_.axis + rank : op_.axis;
    return axis > 0 && elements(part, static_cast<size_t>(axis)) < kRowWorthThreads;
  }

  const xnn_runtime& runtime_;
  const xnn_operator_data& op_;
};

// Steps towards the median, which single stalls do not move.
uint64_t updated_usual(uint64_t usual, uint64_t took) {
  if (usual == 0) return took;
  const uint64_t step = usual / 16 + 1;
  return took < usual ? std::max(usual - step, took + 1) : std::min(usual + step, took + 1);
}

xnn_status run_objects(std::span<const xnn_operator_t> objects, pthreadpool_t threads) {
  for (const xnn_operator_t object : objects) {
    const xnn_status status = xnn_run_operator(object, threads);
    if (status != xnn_status_success) return status;
  }
  return xnn_status_success;
}

}  // namespace

Error Invocation::plan(xnn_runtime_t runtime, ThreadPool* pool) {
  use_fast_row_copies(runtime);
  objects_.clear();
  object_counts_.clear();
  operators_.clear();
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
    Operator op;
    const double work = runtime->threadpool == nullptr ? 0 : Work(*runtime, data).estimate();
    if (work >= kWorthThreads) {
      op.work_ns = static_cast<uint64_t>(std::min(work, double{ThreadPool::kMuchWork}));
      if (pool->use() == ThreadPool::Use::kWhileItPays) {
        op.trials = work < kWorthTrials ? kTrials : 0;
        op.until_alone = kRunsUntilAlone;
      }
      pool_ = pool;
    }
    VITRINE_RETURN_IF_ERROR(operators_.push_back(op));
  }
  return Error();
}

void Invocation::end_alone(Operator& op, uint64_t took_ns) {
  op.alone_ns = op.alone_ns == 0 ? took_ns : std::min(op.alone_ns, took_ns);
  if (op.trials == 0 || --op.trials != 0) return;
  op.work_ns = static_cast<double>(op.alone_ns) < kWorthThreads ? 0 : op.alone_ns;
}

// What several threads gain is known only if one was timed.
bool Invocation::must_be_alone(Operator& op) {
  return op.trials != 0 || (op.until_alone != 0 && --op.until_alone == 0 && op.alone_ns == 0);
}

xnn_status Invocation::run_next(Operator& op, std::span<const xnn_operator_t> objects,
                                pthreadpool_t threads, bool* rests) {
  if (op.work_ns == 0) return run_objects(objects, nullptr);
  const uint64_t start_ns = platform::quick_now_ns();
  bool in_parallel = false;
  if (!*rests && !must_be_alone(op)) {
    in_parallel = pool_->pays(start_ns, op.work_ns);
    *rests = !in_parallel && pool_->rests(start_ns);
  }
  const xnn_status status = run_objects(objects, in_parallel ? threads : nullptr);
  if (status != xnn_status_success) return status;
  const uint64_t end_ns = platform::quick_now_ns();
  const uint64_t took_ns = end_ns - start_ns;
  if (in_parallel) {
    op.usual_ns = updated_usual(op.usual_ns, took_ns);
    pool_->account(end_ns, took_ns, op.usual_ns, op.alone_ns);
  } else {
    end_alone(op, took_ns);
  }
  return status;
}

xnn_status Invocation::run(xnn_runtime_t runtime, std::span<uint64_t> ends) {
  if (pool_ != nullptr || !ends.empty()) return run_in_turn(runtime->threadpool, ends);
  return run_objects(objects_, nullptr);
}

// By itself, so that the short way above stays short.
[[gnu::noinline]] xnn_status Invocation::run_in_turn(pthreadpool_t threads,
                                                     std::span<uint64_t> ends) {
  bool rests = false;
  std::span<const xnn_operator_t> left = objects_;
  for (size_t i = 0; i < object_counts_.size(); ++i) {
    const std::span<const xnn_operator_t> objects = left.first(object_counts_[i]);
    left = left.subspan(objects.size());
    const xnn_status status = pool_ == nullptr ? run_objects(objects, nullptr)
                                               : run_next(operators_[i], objects, threads, &rests);
    if (status != xnn_status_success) return status;
    if (i < ends.size()) ends[i] = platform::ticks();
  }
  return xnn_status_success;
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

Error Invocation::plan(xnn_runtime_t, ThreadPool*) { return Error(); }
xnn_status Invocation::run(xnn_runtime_t runtime, std::span<uint64_t>) {
  return xnn_invoke_runtime(runtime);
}

}  // namespace vitrine::xnnpack

#endif
