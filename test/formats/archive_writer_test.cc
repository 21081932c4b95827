#include "formats/etrecord/archive_writer.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <memory>

#include "base/format_error.h"
#include "base/zip_archive.h"

namespace vitrine::etrecord {
namespace {

constexpr uint64_t kNoLimit = 0xffffffff;

std::vector<std::byte> archive_of(uint64_t limit) {
  ArchiveWriter writer(limit);
  writer.add("a", "first");
  writer.add("folder/b", std::string(3000, 'x'));
  writer.add("empty", "");
  return writer.finish();
}

// Opens an archive with libzip. Returns null if libzip finds the archive inconsistent.
using LibzipArchive = std::unique_ptr<zip_t, void (*)(zip_t*)>;
LibzipArchive opened(const std::vector<std::byte>& bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  EXPECT_NE(archive, nullptr) << zip_error_strerror(&error);
  if (archive == nullptr) zip_source_free(source);
  zip_error_fini(&error);
  return {archive, zip_discard};
}

// The parameter is the limit that is passed to ArchiveWriter. Depending on the limit, none, some or
// all of the sizes and offsets in the archive have the 64-bit form.
class ArchiveWriterLimit : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ArchiveWriterLimit, ZipArchiveAndLibzipReadTheMembers) {
  const std::vector<std::byte> bytes = archive_of(GetParam());
  const ZipArchive ours({bytes, nullptr}, "made.zip");
  EXPECT_EQ(ours.names(), (std::vector<std::string>{"a", "folder/b", "empty"}));
  EXPECT_EQ(ours.read_checked("a", 10), "first");
  EXPECT_EQ(ours.read("folder/b", 3000).text(), std::string(3000, 'x'));
  EXPECT_EQ(ours.read_checked("empty", 0), "");
  const LibzipArchive archive = opened(bytes);
  ASSERT_NE(archive, nullptr);
  EXPECT_EQ(zip_get_num_entries(archive.get(), 0), 3);
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      zip_fopen(archive.get(), "folder/b", 0), zip_fclose);
  ASSERT_NE(file, nullptr) << zip_strerror(archive.get());
  std::string content(4000, '\0');
  ASSERT_EQ(zip_fread(file.get(), content.data(), content.size()), 3000);
  EXPECT_EQ(content.substr(0, 3000), std::string(3000, 'x'));
}

TEST(ArchiveWriter, CompressesMembersThatBecomeSmaller) {
  const auto size_with = [](const std::string& content) {
    ArchiveWriter writer;
    writer.add("a", content);
    const std::vector<std::byte> bytes = writer.finish();
    EXPECT_EQ(ZipArchive({bytes, nullptr}, "made.zip").read("a", content.size()).text(), content);
    return bytes.size();
  };
  const size_t overhead = size_with("");
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i);
  EXPECT_LT(size_with(text), overhead + text.size() / 2);
  // The writer limits the compression of repetitive content, because readers reject high ratios.
  EXPECT_LT(size_with(std::string(100'000, 'x')), overhead + 100'000 / 7);
  std::string noise(10'000, '\0');
  uint32_t state = 1;
  for (char& c : noise) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  EXPECT_EQ(size_with(noise), overhead + noise.size());
}

INSTANTIATE_TEST_SUITE_P(Limits, ArchiveWriterLimit, ::testing::Values(kNoLimit, 1000, 0));

TEST(ArchiveWriter, WritesMoreThan65535Members) {
  for (const size_t count : {size_t{65'534}, size_t{65'535}, size_t{65'537}}) {
    ArchiveWriter writer;
    for (size_t i = 0; i < count; ++i) writer.add(std::to_string(i), "");
    const std::vector<std::byte> bytes = writer.finish();
    EXPECT_EQ(ZipArchive({bytes, nullptr}, "made.zip").names().size(), count);
    EXPECT_EQ(zip_get_num_entries(opened(bytes).get(), 0), static_cast<zip_int64_t>(count));
  }
}

TEST(ArchiveWriter, WritesEmptyArchivesAndRejectsInvalidNames) {
  const std::vector<std::byte> bytes = ArchiveWriter().finish();
  EXPECT_TRUE(ZipArchive({bytes, nullptr}, "empty.zip").names().empty());
  ArchiveWriter writer;
  writer.add("a", "first");
  EXPECT_THROW(writer.add("a", "second"), FormatError);
  EXPECT_THROW(writer.add(std::string(70'000, 'n'), ""), FormatError);
}

}  // namespace
}  // namespace vitrine::etrecord
