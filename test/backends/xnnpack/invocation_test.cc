// Tests the smallest size at which each operator of a delegate uses several threads. These sizes
// follow from the speeds in invocation.cc and from ThreadPool::kMinWorkNs.
#include "backends/xnnpack/runtime/execution/invocation.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

#include "backends/xnnpack/runtime/execution/operator_times.h"

namespace vitrine::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Subgraph {
 public:
  Subgraph() {
    EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success);
    EXPECT_EQ(xnn_create_subgraph(2, 0, &handle_), xnn_status_success);
  }
  ~Subgraph() { xnn_delete_subgraph(handle_); }
  Subgraph(const Subgraph&) = delete;
  Subgraph& operator=(const Subgraph&) = delete;

  xnn_subgraph_t handle() const { return handle_; }
  uint32_t input(const std::vector<size_t>& sizes, xnn_datatype dtype = xnn_datatype_fp32) {
    return value(sizes, dtype, nullptr, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
  }
  uint32_t output(const std::vector<size_t>& sizes, xnn_datatype dtype = xnn_datatype_fp32) {
    return value(sizes, dtype, nullptr, 1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
  }
  uint32_t weights(const std::vector<size_t>& sizes, xnn_datatype dtype = xnn_datatype_fp32) {
    return value(sizes, dtype, zeros_.data(), XNN_INVALID_VALUE_ID, 0);
  }

 private:
  uint32_t value(const std::vector<size_t>& sizes, xnn_datatype dtype, const void* data,
                 uint32_t external_id, uint32_t flags) {
    uint32_t id = XNN_INVALID_VALUE_ID;
    const xnn_status status =
        dtype == xnn_datatype_fp32
            ? xnn_define_tensor_value(handle_, dtype, sizes.size(), sizes.data(), data, external_id,
                                      flags, &id)
            : xnn_define_quantized_tensor_value(handle_, dtype, 0, 0.5F, sizes.size(), sizes.data(),
                                                data, external_id, flags, &id);
    EXPECT_EQ(status, xnn_status_success);
    return id;
  }

  xnn_subgraph_t handle_ = nullptr;
  std::vector<float> zeros_ = std::vector<float>(64 * 64);
};

using Define = std::function<xnn_status(Subgraph& subgraph)>;

// Returns the estimated work of the delegate's only operator; 0 if it runs on one thread.
uint32_t work_ns(const Define& define, size_t threads = 2) {
  Subgraph subgraph;
  EXPECT_EQ(define(subgraph), xnn_status_success);
  const auto pool = ThreadPool::create(threads);
  EXPECT_TRUE(pool.ok());
  xnn_runtime_t runtime = nullptr;
  EXPECT_EQ(xnn_create_runtime_v2(subgraph.handle(), (*pool)->handle(), 0, &runtime),
            xnn_status_success);
  Invocation invocation;
  EXPECT_TRUE(invocation.prepare(runtime, pool->get()).ok());
  EXPECT_EQ(invocation.work_ns().size(), 1U);
  const uint32_t work = invocation.work_ns().empty() ? 0 : invocation.work_ns()[0];
  EXPECT_EQ(xnn_delete_runtime(runtime), xnn_status_success);
  return work;
}

// Returns the temporary memory of the delegate's only operator.
size_t temporary_bytes(const Define& define, size_t threads) {
  Subgraph subgraph;
  EXPECT_EQ(define(subgraph), xnn_status_success);
  const auto pool = ThreadPool::create(threads, ThreadPool::Use::kAlways);
  EXPECT_TRUE(pool.ok());
  xnn_runtime_t runtime = nullptr;
  EXPECT_EQ(xnn_create_runtime_v2(subgraph.handle(), (*pool)->handle(), 0, &runtime),
            xnn_status_success);
  EXPECT_EQ(reshape_operators(runtime, may_use_threads), xnn_status_success);
  const size_t bytes = workspace_bytes_of_operator(runtime, 0);
  EXPECT_EQ(xnn_delete_runtime(runtime), xnn_status_success);
  return bytes;
}

// A linear layer from 64 to 64 channels.
Define linear(size_t rows, xnn_datatype dtype = xnn_datatype_fp32) {
  return [=](Subgraph& s) {
    return xnn_define_fully_connected(s.handle(), -kInfinity, kInfinity, s.input({rows, 64}, dtype),
                                      s.weights({64, 64}, dtype), XNN_INVALID_VALUE_ID,
                                      s.output({rows, 64}, dtype), 0);
  };
}

// Convolutions of images of `side` x `side` pixels with 16 channels. The result has the same size
// as the image.
Define convolution(size_t side) {
  return [=](Subgraph& s) {
    return xnn_define_convolution_2d(s.handle(), 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 16, 16,
                                     -kInfinity, kInfinity, s.input({1, side, side, 16}),
                                     s.weights({16, 3, 3, 16}), XNN_INVALID_VALUE_ID,
                                     s.output({1, side, side, 16}), 0);
  };
}

Define depthwise(uint32_t window, size_t side) {
  return [=](Subgraph& s) {
    const uint32_t padding = window / 2;
    return xnn_define_depthwise_convolution_2d(
        s.handle(), padding, padding, padding, padding, window, window, 1, 1, 1, 1, 1, 16,
        -kInfinity, kInfinity, s.input({1, side, side, 16}), s.weights({1, window, window, 16}),
        XNN_INVALID_VALUE_ID, s.output({1, side, side, 16}), 0);
  };
}

Define matrix_product(size_t rows) {
  return [=](Subgraph& s) {
    return xnn_define_batch_matrix_multiply(s.handle(), s.input({rows, 64}), s.weights({64, 64}),
                                            s.output({rows, 64}), 0);
  };
}

Define softmax(size_t count) {
  return [=](Subgraph& s) {
    return xnn_define_softmax(s.handle(), s.input({1, count}), s.output({1, count}), 0);
  };
}

// Average pooling of an image with windows of 4 x 4 pixels. The image has `side` x `side` pixels,
// and each pixel has 1024 bytes.
Define average_pooling(size_t side) {
  return [=](Subgraph& s) {
    return xnn_define_average_pooling_2d(s.handle(), 0, 0, 0, 0, 4, 4, 1, 1, -kInfinity, kInfinity,
                                         s.input({1, side, side, 256}),
                                         s.output({1, side - 3, side - 3, 256}), 0);
  };
}

Define absolute(size_t count) {
  return [=](Subgraph& s) {
    return xnn_define_unary(s.handle(), xnn_unary_abs, nullptr, s.input({count}), s.output({count}),
                            0);
  };
}

Define transpose(size_t rows) {
  return [=](Subgraph& s) {
    constexpr size_t kOrder[] = {1, 0};
    return xnn_define_static_transpose(s.handle(), 2, kOrder, s.input({rows, 8}),
                                       s.output({8, rows}), 0);
  };
}

class InvocationTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!operator_times_are_measured()) GTEST_SKIP() << "needs XNNPACK's private headers";
  }
};

TEST_F(InvocationTest, OperatorsWithLittleWorkUseOneThread) {
  // Per row, 128 elements are moved (12 per ns), and 64 * 64 products are computed (32 per ns). The
  // weights have 64 * 64 elements.
  EXPECT_EQ(work_ns(linear(26)), 0U);
  EXPECT_EQ(work_ns(linear(27)), 4085U);
  // Each element takes 2 / 12 ns to read and write, and 1 / 4 ns to compute.
  EXPECT_EQ(work_ns(absolute(9'599)), 0U);
  EXPECT_EQ(work_ns(absolute(9'600)), 4000U);
  // Each element is read and written, at 6 elements per ns.
  EXPECT_EQ(work_ns(transpose(1'499)), 0U);
  EXPECT_EQ(work_ns(transpose(1'500)), 4000U);
}

TEST_F(InvocationTest, EightBitProductsAreEstimatedToBeFaster) {
  EXPECT_EQ(work_ns(linear(100, xnn_datatype_qint8)), 0U);
  EXPECT_EQ(work_ns(linear(101, xnn_datatype_qint8)), 4004U);
}

TEST_F(InvocationTest, ConvolutionWorkGrowsWithTheNumberOfProducts) {
  EXPECT_EQ(work_ns(convolution(4)), 0U);
  EXPECT_EQ(work_ns(convolution(16)), 16 * 16 * 16 * 144 / 32 + 2 * 16 * 16 * 16 / 12U);
}

TEST_F(InvocationTest, LargeDepthwiseWindowsAreEstimatedToBeSlower) {
  EXPECT_EQ(work_ns(depthwise(5, 8)), 0U);
  EXPECT_EQ(work_ns(depthwise(5, 32)), 32 * 32 * 16 * 25 / 16 + 2 * 32 * 32 * 16 / 12U);
  EXPECT_EQ(work_ns(depthwise(7, 8)), 8 * 8 * 16 * 49 + 2 * 8 * 8 * 16 / 12U);
}

// A batch matrix multiply packs its right operand in each run, so it is estimated to compute only
// 12 products per ns. Per row, it moves 128 elements and computes 64 * 64 products.
TEST_F(InvocationTest, BatchMatrixMultipliesAreEstimatedToBeSlower) {
  EXPECT_EQ(work_ns(matrix_product(11)), 0U);
  EXPECT_EQ(work_ns(matrix_product(12)), 4224U);
}

// Each element is read and written (12 per ns), and its exponential is computed (1 per ns).
TEST_F(InvocationTest, SoftmaxWorkIncludesExponentials) {
  EXPECT_EQ(work_ns(softmax(3428)), 0U);
  EXPECT_EQ(work_ns(softmax(3429)), 4000U);
}

TEST_F(InvocationTest, EstimatesNoWorkForPoolsOfOneThread) {
  EXPECT_EQ(work_ns(linear(1'000), 1), 0U);
}

// With the pin `debian` of XNNPACK, average pooling with a large window needs one buffer per
// thread.
TEST_F(InvocationTest, OperatorsHaveBuffersForTheThreadsThatTheyMayUse) {
  const Define small = average_pooling(8);
  EXPECT_EQ(work_ns(small), 0U);
  const size_t buffer = temporary_bytes(small, 1);
  if (buffer == 0) GTEST_SKIP() << "this version of XNNPACK needs no buffers";
  EXPECT_EQ(temporary_bytes(small, 2), buffer);
  const Define large = average_pooling(32);
  EXPECT_NE(work_ns(large), 0U);
  EXPECT_EQ(temporary_bytes(large, 1), buffer);
  EXPECT_EQ(temporary_bytes(large, 2), 2 * buffer);
}

TEST_F(InvocationTest, EmptyOperatorsUseOneThread) { EXPECT_EQ(work_ns(absolute(0)), 0U); }

}  // namespace
}  // namespace vitrine::xnnpack
