#include "tools/common/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>

#include "test/support/expect_error.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Lt;

std::string file_with(const std::string& header, const std::string& data, char version = 1) {
  std::string file = std::string("\x93NUMPY", 6) + version + '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

NumpyArray parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)), "x.npy");
}

std::vector<int> bytes_of(const NumpyArray& array) {
  std::vector<int> values;
  for (const std::byte each : array.bytes) values.push_back(static_cast<int>(each));
  return values;
}

TEST(ParseNpy, ReadsShapeDtypeAndElements) {
  const NumpyArray array =
      parse(file_with("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n",
                      std::string("\1\2\3\4\5\6")));
  EXPECT_EQ(array.dtype, ScalarType::kByte);
  EXPECT_THAT(array.sizes, ElementsAre(2, 3));
  EXPECT_THAT(bytes_of(array), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ParseNpy, ConvertsFortranOrder) {
  const NumpyArray array =
      parse(file_with("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }",
                      std::string("\1\4\2\5\3\6"), 2));
  EXPECT_THAT(bytes_of(array), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ParseNpy, ReadsScalarsAndVectors) {
  const std::string four(4, '\0');
  EXPECT_TRUE(parse(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", four))
                  .sizes.empty());
  EXPECT_THAT(
      parse(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", four)).sizes,
      ElementsAre(1));
}

TEST(ParseNpy, RejectsDamagedFiles) {
  const char* const headers[] = {
      "{'fortran_order': False, 'shape': (1,), }",
      "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, x), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 1, }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"};
  for (const char* header : headers) {
    SCOPED_TRACE(header);
    EXPECT_ERROR(ToolError, parse(file_with(header, std::string(4, '\0'))), "x.npy: ");
  }
  EXPECT_ERROR(ToolError, parse("\x93NUMPY"), "other bytes");
  EXPECT_ERROR(ToolError, parse(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12)), "truncated");
  EXPECT_ERROR(ToolError, parse(std::string("\x93NUMPY\x09\x00\x01\x00{}", 12)), "version 9");
}

constexpr std::array<int32_t, 4> kSizes = {1, 2, 2, 3};
constexpr std::array<uint8_t, 4> kChannelsLast = {0, 2, 3, 1};

TEST(TensorsTest, RowMajorBytesIgnoreTheDimOrder) {
  Array array = zeros_like({ScalarType::kFloat, kSizes, kChannelsLast, ShapeDynamism::kStatic,
                            12 * sizeof(float), true});
  std::array<float, 12> numbers;
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const auto bytes = std::as_bytes(std::span(numbers));
  check(array.copy_from(bytes));
  EXPECT_NE(std::memcmp(array.bytes().data(), bytes.data(), bytes.size()), 0);
  EXPECT_THAT(row_major_bytes(array.tensor()), testing::ElementsAreArray(bytes));
}

TEST(TensorsTest, RowMajorBytesRejectsATensorWithoutData) {
  EXPECT_TRUE(row_major_bytes(Tensor()).empty());
  Array array = check(Array::zeros(ScalarType::kFloat, {2}));
  array.mutable_tensor().set_data(nullptr);
  EXPECT_THROW(row_major_bytes(array.tensor()), ToolError);
}

TEST(TensorsTest, FillRandomUsesTheRangeOfTheDtype) {
  std::mt19937_64 generator(7);
  Array floats = check(Array::zeros(ScalarType::kFloat, {1000}));
  fill_random(floats, generator);
  EXPECT_THAT(*floats.data<float>(), Each(AllOf(Ge(-1), Lt(1))));
  EXPECT_THAT(*floats.data<float>(), testing::Contains(Lt(-0.5F)));
  Array indices = check(Array::zeros(ScalarType::kLong, {1000}));
  fill_random(indices, generator);
  EXPECT_THAT(*indices.data<int64_t>(), Each(AnyOf(0, 1)));
  EXPECT_THAT(*indices.data<int64_t>(), testing::Contains(1));
}

}  // namespace
}  // namespace vitrine::tools
