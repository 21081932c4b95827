#include "vitrine/extended_header.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace vitrine {
namespace {

std::array<std::byte, kProgramHeadBytes> head(const char* magic, uint32_t length) {
  std::array<std::byte, kProgramHeadBytes> bytes{};
  std::memcpy(bytes.data() + 8, magic, 4);
  std::memcpy(bytes.data() + 12, &length, sizeof length);
  const std::array<uint64_t, 3> numbers{1000, 1024, 77};
  std::memcpy(bytes.data() + 16, numbers.data(), sizeof numbers);
  return bytes;
}

TEST(ExtendedHeader, ReadsAllFields) {
  const auto header = read_extended_header(head("eh00", 32));
  ASSERT_TRUE(header.ok() && header->has_value());
  EXPECT_EQ((*header)->program_size, 1000u);
  EXPECT_EQ((*header)->segment_base, 1024u);
  EXPECT_EQ((*header)->segment_data_size, 77u);
}

TEST(ExtendedHeader, OldHeadersHaveNoSegmentSize) {
  const auto header = read_extended_header(head("eh00", 24));
  ASSERT_TRUE(header.ok() && header->has_value());
  EXPECT_EQ((*header)->segment_base, 1024u);
  EXPECT_EQ((*header)->segment_data_size, 0u);
}

TEST(ExtendedHeader, AcceptsLongerHeaders) {
  EXPECT_TRUE(read_extended_header(head("eh00", 100)).ok());
}

TEST(ExtendedHeader, IsEmptyWithoutTheMagicNumber) {
  const auto header = read_extended_header(head("eh01", 32));
  ASSERT_TRUE(header.ok());
  EXPECT_FALSE(header->has_value());
}

TEST(ExtendedHeader, RejectsHeadersThatAreTooShort) {
  const auto header = read_extended_header(head("eh00", 23));
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().code(), ErrorCode::kInvalidProgram);
  EXPECT_STREQ(header.error().message(), "extended header (byte 12): length 23 is below 24");
}

}  // namespace
}  // namespace vitrine
