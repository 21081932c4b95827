#include "runtime/platform/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <utility>

#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "test/support/temporary_file.h"
#include "vitrine/tensor.h"

namespace vitrine::platform {
namespace {

using test::bytes_of;
using test::TemporaryFile;
using testing::HasSubstr;

TEST(File, ReadsAtAnOffset) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  auto file = test::require(File::open(temporary.path()));
  EXPECT_EQ(file.size(), 10u);
  std::array<std::byte, 3> out{};
  ASSERT_TRUE(file.read(4, out).ok());
  EXPECT_EQ(out[0], std::byte{'4'});
  EXPECT_EQ(out[2], std::byte{'6'});
}

TEST(File, ReportsReadsPastTheEnd) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  auto file = test::require(File::open(temporary.path()));
  std::array<std::byte, 3> out{};
  EXPECT_THAT(file.read(8, out), test::FailsWith(ErrorCode::kAccessFailed, HasSubstr("offset 8")));
}

TEST(File, ReportsAMissingFileByName) {
  EXPECT_THAT(File::open("/nonexistent/model.pte"),
              test::FailsWith(ErrorCode::kNotFound, HasSubstr("/nonexistent/model.pte")));
}

TEST(File, RejectsDirectories) {
  EXPECT_THAT(File::open("/"),
              test::FailsWith(ErrorCode::kAccessFailed, HasSubstr("not a regular file")));
}

TEST(File, CanBeMoved) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  auto opened = test::require(File::open(temporary.path()));
  File file = std::move(opened);
  std::array<std::byte, 1> out{};
  EXPECT_TRUE(file.read(9, out).ok());
}

// If a file changes twice within the time resolution of its file system, the second change does not
// change the file's stamp. The stamp of a file that changed recently is therefore not reliable.
TEST(File, StampIsUnreliableRightAfterAChange) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  auto fresh = test::require(File::open(temporary.path()));
  EXPECT_FALSE(fresh.is_settled());
  EXPECT_EQ(Mapping::map(fresh)->stamp(), 0u);
  auto old = test::require(File::open("/usr/bin/env"));
  EXPECT_TRUE(old.is_settled());
  EXPECT_EQ(Mapping::map(old)->stamp(), old.stamp());
}

TEST(File, SealDoesNotModifyAFileThatHasChanged) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  Result<File> file = File::open(temporary.path());
  file->seal(1000);
  EXPECT_EQ(File::open(temporary.path())->modified_ns(), uint64_t{1000} * 1'000'000'000);
  file->seal(2000);  // has no effect: the first seal changed the file
  EXPECT_EQ(File::open(temporary.path())->modified_ns(), uint64_t{1000} * 1'000'000'000);
}

TEST(Mapping, ContainsTheFileAndReadableBytesPastItsEnd) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  Result<Mapping> mapping = [&] {
    Result<File> file = File::open(temporary.path());
    return Mapping::map(*file);  // the mapping outlives the File object
  }();
  ASSERT_TRUE(mapping.ok());
  ASSERT_EQ(mapping->bytes().size(), 10u);
  EXPECT_EQ(mapping->bytes()[9], std::byte{'9'});
  EXPECT_EQ(mapping->bytes().data()[10 + kReadableSlack - 1], std::byte{0});
}

// docs/trust.md states this rule: mapped files must not be truncated.
TEST(MappingDeathTest, ReadingATruncatedFileEndsTheProcess) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  const auto mapping = test::require(Mapping::map(*File::open(temporary.path())));
  const std::span<const std::byte> bytes = mapping.bytes();
  const auto first = [&]() -> std::byte {
    return *static_cast<const volatile std::byte*>(bytes.data());
  };
  EXPECT_EQ(first(), std::byte{'0'});
  std::filesystem::resize_file(temporary.path(), 0);
  EXPECT_DEATH(first(), "");
}

// If the size of a file is a multiple of the page size, the readable slack after it is on a
// separate page.
TEST(Mapping, FullPagesAreFollowedByReadableBytes) {
  const TemporaryFile temporary(std::vector<std::byte>(65536, std::byte{1}));
  auto file = test::require(File::open(temporary.path()));
  auto mapping = test::require(Mapping::map(file));
  EXPECT_EQ(mapping.bytes().data()[65536 + kReadableSlack - 1], std::byte{0});
}

TEST(Mapping, IsEmptyForAnEmptyFile) {
  const TemporaryFile temporary({});
  auto file = test::require(File::open(temporary.path()));
  auto mapping = test::require(Mapping::map(file));
  EXPECT_TRUE(mapping.bytes().empty());
}

}  // namespace
}  // namespace vitrine::platform
