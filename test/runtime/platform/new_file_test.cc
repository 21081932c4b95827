#include "runtime/platform/new_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/support/scratch_folder.h"

namespace vitrine::platform {
namespace {

namespace fs = std::filesystem;
using Kind = NewFile::Kind;
using test::read_text;
using test::ScratchFolder;
using testing::HasSubstr;

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
  const auto file = NewFile::create((scratch / "a").c_str(), Kind::kOutput);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("cannot create: Too many levels of symbolic"));
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
  const auto file = NewFile::create("/dev/null", Kind::kPrivate);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("/dev/null: cannot create: not a regular file"));
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
