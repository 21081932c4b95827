// Tests the reader of .npy files on files like those that NumPy writes, and on damaged ones.
#include "tools/common/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

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
    EXPECT_THAT([&] { parse(file_with(header, std::string(4, '\0'))); },
                ThrowsMessage<ToolError>(HasSubstr("x.npy: ")))
        << header;
  }
  EXPECT_THAT([&] { parse("\x93NUMPY"); }, ThrowsMessage<ToolError>(HasSubstr("other bytes")));
  EXPECT_THAT([&] { parse(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12)); },
              ThrowsMessage<ToolError>(HasSubstr("truncated")));
  EXPECT_THAT([&] { parse(std::string("\x93NUMPY\x09\x00\x01\x00{}", 12)); },
              ThrowsMessage<ToolError>(HasSubstr("version 9")));
}

}  // namespace
}  // namespace vitrine::tools
