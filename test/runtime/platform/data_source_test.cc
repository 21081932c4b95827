#include "vitrine/data_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <system_error>

#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "test/support/temporary_file.h"

namespace vitrine {
namespace {

using test::bytes_of;
using test::TemporaryFile;
using testing::HasSubstr;

constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();

std::string text_of(const DataBuffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

struct SourceKind {
  const char* name;
  std::function<Result<std::unique_ptr<DataSource>>(const TemporaryFile&,
                                                    std::span<const std::byte>)>
      make;
};

class DataSourceTest : public testing::TestWithParam<SourceKind> {
 protected:
  void SetUp() override { source_ = test::require(GetParam().make(file_, bytes_)); }

  const test::Bytes bytes_ = bytes_of("0123456789");
  const TemporaryFile file_{bytes_};
  std::unique_ptr<DataSource> source_;
};

TEST_P(DataSourceTest, ReadsRanges) {
  EXPECT_EQ(source_->size(), 10u);
  EXPECT_EQ(text_of(*source_->read(0, 10)), "0123456789");
  EXPECT_EQ(text_of(*source_->read(3, 4)), "3456");
  EXPECT_EQ(text_of(*source_->read(10, 0)), "");
}

TEST_P(DataSourceTest, RejectsRangesOutsideTheData) {
  for (const auto& [offset, size] : {std::pair<uint64_t, uint64_t>{0, 11},
                                     {11, 0},
                                     {10, 1},
                                     {kLast, 2},
                                     {2, kLast},
                                     {kLast, kLast}}) {
    EXPECT_THAT(source_->read(offset, size),
                test::FailsWith(ErrorCode::kInvalidArgument, HasSubstr("10 bytes")))
        << offset << ' ' << size;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DataSourceTest,
    testing::Values(
        SourceKind{"File", [](const TemporaryFile& file, auto) { return open_file(file.path()); }},
        SourceKind{"Mapped", [](const TemporaryFile& file, auto) { return map_file(file.path()); }},
        SourceKind{"Buffer", [](const TemporaryFile&,
                                std::span<const std::byte> bytes) { return view_buffer(bytes); }}),
    [](const auto& instance) { return instance.param.name; });

// A sparse file of 5 GB. If addresses have 32 bits, the file must be rejected, not truncated.
TEST(LargeFile, IsRejectedIfItExceedsTheAddressSpace) {
  constexpr uint64_t kBytes = uint64_t{5} << 30;
  const TemporaryFile file(bytes_of("begin"));
  std::error_code code;
  std::filesystem::resize_file(file.path(), kBytes, code);
  if (code) GTEST_SKIP() << "cannot create a file of 5 GB: " << code.message();
  for (const auto open : {&open_file, &map_file}) {
    Result<std::unique_ptr<DataSource>> source = open(file.path());
    if constexpr (sizeof(size_t) < sizeof kBytes) {
      EXPECT_THAT(source, test::FailsWith(ErrorCode::kNotSupported,
                                          testing::AllOf(HasSubstr("has 5368709120 bytes"),
                                                         HasSubstr(file.path()))));
    } else {
      ASSERT_TRUE(source.ok()) << source.error().message();
      EXPECT_EQ((*source)->size(), kBytes);
      EXPECT_EQ((*source)->read(kBytes - 1, 1)->bytes()[0], std::byte{0});
      EXPECT_EQ(text_of(*(*source)->read(0, 5)), "begin");
    }
  }
}

TEST(DataSource, ReportsMissingFilesByName) {
  for (const auto open : {open_file, map_file}) {
    EXPECT_THAT(open("/nonexistent.pte"),
                test::FailsWith(ErrorCode::kNotFound, HasSubstr("/nonexistent.pte")));
  }
}

TEST(DataSource, BuffersAreNotCopied) {
  const test::Bytes bytes = bytes_of("0123456789");
  const auto source = test::require(view_buffer(bytes));
  auto buffer = test::require(source->read(2, 3));
  EXPECT_EQ(buffer.data(), bytes.data() + 2);
  EXPECT_EQ(buffer.owned_data(), nullptr);
}

TEST(DataSource, ReadsFilesIntoAlignedMemoryAndReportsAFileThatShrank) {
  const TemporaryFile file(bytes_of("0123456789"));
  const auto source = test::require(open_file(file.path()));
  const auto buffer = test::require(source->read(1, 5));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
  std::filesystem::resize_file(file.path(), 4);
  EXPECT_THAT(source->read(2, 8),
              test::FailsWith(ErrorCode::kAccessFailed, HasSubstr("too short")));
}

TEST(DataBuffer, OwnsAllocatedMemoryOrReportsFailedAllocation) {
  auto buffer = test::require(DataBuffer::allocate(100));
  ASSERT_NE(buffer.owned_data(), nullptr);
  buffer.owned_data()[99] = std::byte{7};
  const DataBuffer moved = std::move(buffer);
  EXPECT_EQ(moved.bytes()[99], std::byte{7});
  EXPECT_EQ(DataBuffer::allocate(SIZE_MAX / 2 + 1).take_error().code(),
            ErrorCode::kMemoryAllocationFailed);
}

}  // namespace
}  // namespace vitrine
