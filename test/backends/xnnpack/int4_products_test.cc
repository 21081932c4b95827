// Tests matrix products with int4 weights. Computes the expected results in double precision.
#include "backends/xnnpack/runtime/execution/int4_products.h"

#include <gtest/gtest.h>
#include <xnnpack.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "backends/xnnpack/runtime/execution/memory_reserve.h"
#include "backends/xnnpack/runtime/weights/int4_packing.h"

namespace vitrine::xnnpack {
namespace {

struct ProductShape {
  size_t rows, columns, depth, block;
};

float from_bf16(uint16_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }

struct ProductCase {
  ProductShape shape;
  std::vector<int8_t> inputs;
  std::vector<uint8_t> weights;  // two per byte
  std::vector<uint16_t> scales;
  std::vector<float> bias;
  std::vector<xnn_quantization_params> quantization;

  double weight(size_t column, size_t k) const {
    const uint8_t pair = weights[(column * shape.depth + k) / 2];
    const double number = (k % 2 == 0 ? pair & 15 : pair >> 4) - 8;
    return number * from_bf16(scales[(column * shape.depth + k) / shape.block]);
  }
};

ProductCase make_product(const ProductShape& shape, std::mt19937& random) {
  ProductCase made{shape, {}, {}, {}, {}, {}};
  made.inputs.resize(shape.rows * shape.depth);
  for (int8_t& value : made.inputs) value = static_cast<int8_t>(random());
  made.weights.resize(shape.columns * shape.depth / 2);
  for (uint8_t& value : made.weights) value = static_cast<uint8_t>(random());
  made.scales.resize(shape.columns * shape.depth / shape.block);
  for (uint16_t& value : made.scales) value = static_cast<uint16_t>(0x3C00 + random() % 0x180);
  made.bias.resize(shape.columns);
  for (float& value : made.bias) value = static_cast<float>(random() % 256) - 128;
  made.quantization.resize(shape.rows);
  for (auto& row : made.quantization) {
    row = {static_cast<int32_t>(random() % 256) - 128,
           0.001f * static_cast<float>(1 + random() % 9)};
  }
  // XNNPACK's kernels read parameters for a full tile of rows, even if the last tile is not full.
  made.quantization.resize(shape.rows + XNN_EXTRA_QUANTIZATION_PARAMS, made.quantization.back());
  return made;
}

// The bounds of the clamp are inside the range of the results, so that some results are clamped at
// each bound.
constexpr float kMin = -60;
constexpr float kMax = 90;

// In XNNPACK versions of 2024, create functions have two parameters for caches, and operators need
// no workspace. In later versions, there is one parameter for a cache, and operators need a
// workspace.
template <class Function, class... Arguments>
xnn_status create(Function function, xnn_operator_t* made, Arguments... arguments) {
  if constexpr (std::is_invocable_v<Function, Arguments..., std::nullptr_t, std::nullptr_t,
                                    xnn_operator_t*>) {
    return function(arguments..., nullptr, nullptr, made);
  } else {
    return function(arguments..., nullptr, made);
  }
}

template <class Reshape, class Setup>
void prepare(Reshape reshape, Setup setup, xnn_operator_t made, const ProductCase& c, float* output,
             std::vector<char>& workspace) {
  if constexpr (std::is_invocable_v<Reshape, xnn_operator_t, size_t, pthreadpool_t>) {
    EXPECT_EQ(reshape(made, c.shape.rows, nullptr), xnn_status_success);
    EXPECT_EQ(setup(made, c.inputs.data(), output, c.quantization.data()), xnn_status_success);
  } else {
    size_t size = 0;
    EXPECT_EQ(reshape(made, c.shape.rows, &size, nullptr), xnn_status_success);
    workspace.resize(size);
    EXPECT_EQ(setup(made, c.inputs.data(), output, workspace.data(), c.quantization.data()),
              xnn_status_success);
  }
}

std::vector<float> run_product(const ProductCase& c) {
  const auto& [rows, columns, depth, block] = c.shape;
  xnn_operator_t made = nullptr;
  EXPECT_EQ(
      create(&xnn_create_fully_connected_nc_qd8_f32_qb4w, &made, depth, columns, depth, columns + 1,
             block, uint8_t{8}, c.scales.data(), c.weights.data(), c.bias.data(), kMin, kMax, 0u),
      xnn_status_success);
  const std::unique_ptr<xnn_operator, decltype(&xnn_delete_operator)> holder(made,
                                                                             &xnn_delete_operator);
  std::vector<float> output(rows * (columns + 1), 7777);
  std::vector<char> workspace;
  prepare(&xnn_reshape_fully_connected_nc_qd8_f32_qb4w, &xnn_setup_fully_connected_nc_qd8_f32_qb4w,
          made, c, output.data(), workspace);
  EXPECT_EQ(xnn_run_operator(made, nullptr), xnn_status_success);
  return output;
}

void expect_formula(const ProductCase& c, const std::vector<float>& output) {
  const auto& [rows, columns, depth, block] = c.shape;
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      double sum = 0;
      double magnitude = 0;  // rounding errors are proportional to this
      for (size_t k = 0; k < depth; ++k) {
        const double input = c.inputs[i * depth + k] - c.quantization[i].zero_point;
        sum += input * c.weight(j, k);
        magnitude += 256 * std::abs(c.weight(j, k));
      }
      const double expected =
          std::clamp<double>(sum * c.quantization[i].scale + c.bias[j], kMin, kMax);
      ASSERT_NEAR(output[i * (columns + 1) + j], expected,
                  1e-6 * (magnitude * c.quantization[i].scale + 128))
          << "row " << i << ", column " << j;
    }
    ASSERT_EQ(output[i * (columns + 1) + columns], 7777) << "beyond row " << i;
  }
}

TEST(Int4Products, MatchTheFormula) {
  ASSERT_EQ(xnn_initialize(&reserving_allocator()), xnn_status_success);
  use_fast_int4_packing();
  use_fast_int4_products();
  std::mt19937 random(5);
  std::vector<ProductShape> shapes;
  // The row counts range from 1 to a count that needs three kernel calls.
  for (size_t rows = 1; rows <= 2 * kInt4ProductRows + 3; ++rows)
    shapes.push_back({rows, 19, 96, 32});
  for (const size_t columns : {1, 15, 16, 32, 33}) shapes.push_back({3, columns, 64, 64});
  // These shapes have a single block, wide blocks, or more blocks than are processed at a time.
  for (const ProductShape& shape : {ProductShape{13, 16, 32, 32},
                                    {2, 5, 512, 256},
                                    {2, 17, 32 * 300, 32},
                                    {1, 17, 32 * 513, 32}}) {
    shapes.push_back(shape);
  }
  for (const ProductShape& shape : shapes) {
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.columns << " of " << shape.depth
                                    << " by " << shape.block);
    const ProductCase c = make_product(shape, random);
    expect_formula(c, run_product(c));
  }
}

}  // namespace
}  // namespace vitrine::xnnpack
