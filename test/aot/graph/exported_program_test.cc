#include "aot/graph/exported_program.h"

#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"

namespace vitrine::aot {
namespace {

std::vector<std::byte> counting(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

TEST(TensorData, RowMajorBytesFollowStrides) {
  TensorData data = make_tensor_data(ScalarType::kByte, {2, 3}, counting(6));
  EXPECT_EQ(row_major_bytes(data), counting(6));
  data.sizes = {3, 2};
  data.strides = {1, 3};
  const std::vector<std::byte> transposed = row_major_bytes(data);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(std::to_integer<size_t>(transposed[2 * i + j]), i + 3 * j);
    }
  }
  EXPECT_FALSE(data.is_contiguous());
}

TEST(TensorData, CheckRejectsElementsOutsideStorage) {
  TensorData data = make_tensor_data(ScalarType::kFloat, {2, 3}, counting(24));
  EXPECT_EQ(data.check(), "");
  data.sizes = {2, 4};
  EXPECT_NE(data.check(), "");
  data.sizes = {INT64_MAX, INT64_MAX};
  EXPECT_NE(data.check(), "");
  data.sizes = {2, -3};
  EXPECT_NE(data.check(), "");
  data.sizes = {0, INT64_MAX};
  EXPECT_EQ(data.check(), "");
  data.sizes = {2, 3};
  data.strides = {-3, 1};
  EXPECT_NE(data.check(), "");
  data.strides = {INT64_MAX, INT64_MAX};
  EXPECT_NE(data.check(), "");
  // An expanded tensor that would unpack to 4 TiB.
  data.sizes = {int64_t{1} << 40};
  data.strides = {0};
  EXPECT_NE(data.check(), "");
}

TEST(ExportedProgram, AddsAndRemovesConstants) {
  ExportedProgram program;
  Node* x = program.graph->placeholder("x");
  program.signature.inputs.emplace_back().name = "x";
  program.graph->set_output(Argument::tuple({x}));
  program.signature.outputs.emplace_back().name = "x";
  const TensorData data = make_tensor_data(ScalarType::kByte, {4}, counting(4));
  Node* first = program.add_constant("c", data);
  Node* second = program.add_constant("c", data);
  EXPECT_EQ(first->name(), "c");
  EXPECT_EQ(second->name(), "c_1");
  EXPECT_EQ(x->previous(), second);
  EXPECT_EQ(program.data_of(*program.input_of("c_1"))->sizes, (std::vector<int64_t>{4}));
  lint(program);
  const ExportedProgram copy = program.copy();
  program.remove_input(first);
  EXPECT_EQ(program.constants.size(), 1U);
  EXPECT_EQ(copy.constants.size(), 2U);
  lint(program);
  lint(copy);
  EXPECT_THROW(program.remove_input(x), AotError);
}

}  // namespace
}  // namespace vitrine::aot
