#include "runtime/platform/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "runtime/platform/new_file.h"
#include "test/support/program_builder.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/support/scratch_folder.h"
#include "test/support/temporary_file.h"
#include "vitrine/tensor.h"

namespace vitrine::platform {
namespace {

namespace fs = std::filesystem;
using Kind = NewFile::Kind;
using test::bytes_of;
using test::read_text;
using test::ScratchFolder;
using test::TemporaryFile;
using testing::HasSubstr;

TEST(File, ReadsAtAnOffsetAndReportsReadsPastTheEnd) {
  const TemporaryFile temporary(bytes_of("0123456789"));
  File opened = test::require(File::open(temporary.path()));
  File file = std::move(opened);
  EXPECT_EQ(file.size(), 10u);
  std::array<std::byte, 3> out{};
  ASSERT_TRUE(file.read(4, out).ok());
  EXPECT_EQ(out[0], std::byte{'4'});
  EXPECT_EQ(out[2], std::byte{'6'});
  EXPECT_THAT(file.read(8, out), test::FailsWith(ErrorCode::kAccessFailed, HasSubstr("offset 8")));
}

TEST(File, RejectsMissingFilesAndDirectories) {
  EXPECT_THAT(File::open("/nonexistent/model.pte"),
              test::FailsWith(ErrorCode::kNotFound, HasSubstr("/nonexistent/model.pte")));
  EXPECT_THAT(File::open("/"),
              test::FailsWith(ErrorCode::kAccessFailed, HasSubstr("not a regular file")));
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

// If the size of a file is a multiple of the page size, the readable bytes past its end are on a
// separate page.
TEST(Mapping, BytesAfterAFileOfWholePagesAreReadable) {
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

void write(const fs::path& path, std::string_view text, Kind kind = Kind::kOutput) {
  auto file = test::require(NewFile::create(path.c_str(), kind));
  ASSERT_TRUE(file.write(std::as_bytes(std::span(text))).ok());
  ASSERT_TRUE(file.commit().ok());
}

TEST(NewFileTest, FollowsLinksToMissingFiles) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "folder");
  fs::create_symlink("folder/second", scratch / "first");
  fs::create_symlink("third", scratch / "folder/second");
  fs::create_symlink(scratch / "folder/third", scratch / "absolute");
  for (const char* link : {"first", "absolute"}) {
    SCOPED_TRACE(link);
    write(scratch / link, link);
    EXPECT_TRUE(fs::is_symlink(scratch / link));
    EXPECT_FALSE(fs::is_symlink(scratch / "folder/third"));
    EXPECT_EQ(read_text(scratch / "folder/third"), link);
    fs::remove(scratch / "folder/third");
  }
  EXPECT_TRUE(fs::is_symlink(scratch / "folder/second"));
}

TEST(NewFileTest, RejectsCircularLinks) {
  const ScratchFolder scratch;
  fs::create_symlink("b", scratch / "a");
  fs::create_symlink("a", scratch / "b");
  EXPECT_THAT(NewFile::create((scratch / "a").c_str(), Kind::kOutput).take_error().message(),
              HasSubstr("cannot create: Too many levels of symbolic"));
}

TEST(NewFileTest, PrivateFilesAreReadableOnlyByTheirOwner) {
  const ScratchFolder scratch;
  const mode_t former = ::umask(0027);
  write(scratch / "output", "", Kind::kOutput);
  write(scratch / "private", "", Kind::kPrivate);
  ::umask(former);
  EXPECT_EQ(fs::status(scratch / "output").permissions(), fs::perms(0640));
  EXPECT_EQ(fs::status(scratch / "private").permissions(), fs::perms(0600));
}

TEST(NewFileTest, PipesAreWrittenInPlace) {
  const ScratchFolder scratch;
  const std::string path = scratch / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write(path, "text");
  std::array<char, 8> got{};
  EXPECT_EQ(::read(reader, got.data(), got.size()), 4);
  ::close(reader);
  EXPECT_STREQ(got.data(), "text");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(NewFileTest, OutputFilesMayBeDevicesButPrivateFilesMayNot) {
  write("/dev/null", "gone", Kind::kOutput);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT(NewFile::create("/dev/null", Kind::kPrivate).take_error().message(),
              HasSubstr("/dev/null: cannot create: not a regular file"));
}

TEST(NewFileTest, UncommittedFilesAreRemoved) {
  const ScratchFolder scratch;
  write(scratch / "file", "former");
  for (const bool is_finished : {false, true}) {
    auto file = test::require(NewFile::create((scratch / "file").c_str(), Kind::kOutput));
    EXPECT_TRUE(file.write(std::as_bytes(std::span("new"))).ok());
    if (is_finished) {
      EXPECT_TRUE(file.finish().ok());
    }
  }
  EXPECT_EQ(read_text(scratch / "file"), "former");
  EXPECT_EQ(std::distance(fs::directory_iterator((scratch / "").parent_path()), {}), 1);
}

}  // namespace
}  // namespace vitrine::platform
