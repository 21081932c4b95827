#include "base/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/format_error.h"
#include "test/aot/import/pt2_writer.h"
#include "test/support/damaged_bytes.h"
#include "test/support/expect_error.h"
#include "test/support/results.h"

namespace vitrine {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const test::ArchiveMembers kMembers = {{"a", "first"}, {"folder/b", std::string(3000, 'b')}};

TEST(ZipArchive, ReturnsUncompressedMembersWithoutCopying) {
  const std::vector<std::byte> bytes = test::write_zip(kMembers);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_THAT(archive.names(), testing::ElementsAre("a", "folder/b"));
  const SharedBytes member = archive.read("folder/b", 3000);
  EXPECT_EQ(member.text(), kMembers[1].second);
  EXPECT_GE(member.span.data(), bytes.data());
  EXPECT_LT(member.span.data(), bytes.data() + bytes.size());
}

TEST(ZipArchive, UnpacksCompressedMembers) {
  const std::vector<std::byte> bytes = test::write_zip(kMembers, true);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_EQ(archive.read("folder/b", 3000).text(), kMembers[1].second);
}

TEST(ZipArchive, CheckedReadReportsAWrongCrc) {
  std::vector<std::byte> bytes = test::write_zip(kMembers);
  EXPECT_EQ(ZipArchive({bytes, nullptr}, "test.zip").read_checked("a", 5), "first");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  bytes[text.find("first")] = std::byte{'F'};
  const ZipArchive damaged({bytes, nullptr}, "test.zip");
  EXPECT_ERROR(FormatError, damaged.read_checked("a", 5), "test.zip: a: CRC error");
}

TEST(ZipArchive, RejectsReadsOfMembersThatAreTooLargeOrAbsent) {
  const std::vector<std::byte> bytes = test::write_zip(kMembers);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_ERROR(FormatError, archive.read("folder/b", 2999),
               "test.zip: folder/b: has 3000 bytes; the maximum is 2999");
  EXPECT_ERROR(FormatError, archive.read("c", 1), "test.zip: c: is not in the archive");
}

TEST(ZipArchive, OpenErrorMentionsMissingFileOnce) {
  EXPECT_THAT([] { ZipArchive::open("/nowhere"); },
              ThrowsMessage<FormatError>(testing::StrEq("/nowhere: No such file or directory")));
}

TEST(ZipArchive, RejectsZipBombs) {
  const std::vector<std::byte> bytes =
      test::write_zip({{"bomb", std::string(size_t{1} << 22, '\0')}}, true);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_ERROR(FormatError, archive.read("bomb", UINT64_MAX), "test.zip: bomb: unpacks from");
}

// Writes an archive with one compressed member, and lets change(directory entry, local header)
// modify its bytes. Returns the content of the member.
template <class Change>
std::string changed(const std::string& content, Change&& change) {
  std::vector<std::byte> bytes = test::write_zip({{"a", content}}, true);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  change(bytes.data() + text.find("PK\1\2"), bytes.data());
  return ZipArchive({bytes, nullptr}, "test.zip").read_checked("a", UINT64_MAX);
}

// Offsets of fields in a directory entry, and in a local header.
constexpr size_t kFlags = 8, kMethod = 10, kSize = 24;
constexpr size_t kLocalFlags = 6, kLocalCrc = 14, kLocalName = 30;

TEST(ZipArchive, RejectsAWrongUncompressedSize) {
  const std::string content(3000, 'b');
  const auto with_size = [&](std::byte low) {
    return changed(content, [&](std::byte* entry, std::byte*) { entry[kSize] = low; });
  };
  EXPECT_EQ(with_size(std::byte{3000 & 0xff}), content);
  EXPECT_THAT([&] { with_size(std::byte{(3000 & 0xff) - 1}); },
              ThrowsMessage<FormatError>("test.zip: a: unpacks to more than the directory says"));
  EXPECT_THAT([&] { with_size(std::byte{(3000 & 0xff) + 1}); },
              ThrowsMessage<FormatError>("test.zip: a: is truncated"));
}

TEST(ZipArchive, RejectsTruncatedAndDamagedStreams) {
  std::string content;
  for (uint32_t i = 0, bits = 1; i < 3000; ++i, bits = bits * 1664525 + 1013904223) {
    content.push_back(static_cast<char>(bits >> 24));  // noise, which hardly shrinks
  }
  constexpr size_t kPacked = 20;
  EXPECT_THAT(
      [&] {
        changed(content, [&](std::byte* entry, std::byte*) { entry[kPacked + 1] = std::byte{1}; });
      },
      ThrowsMessage<FormatError>("test.zip: a: is truncated"));
  EXPECT_THAT(
      [&] {
        changed(content,
                [&](std::byte*, std::byte* local) { local[kLocalName + 1] = std::byte{0xff}; });
      },
      ThrowsMessage<FormatError>("test.zip: a: is damaged"));
}

TEST(ZipArchive, RejectsUnsupportedCompressionMethods) {
  EXPECT_THAT(
      [&] { changed("abc", [](std::byte* entry, std::byte*) { entry[kMethod] = std::byte{12}; }); },
      ThrowsMessage<FormatError>(
          "test.zip: a: uses compression method 12, which is not supported"));
}

// Streaming writers put the sizes of a member after its data.
TEST(ZipArchive, IgnoresSizesInLocalHeaders) {
  const std::string content(3000, 'b');
  EXPECT_EQ(changed(content,
                    [](std::byte* entry, std::byte* local) {
                      entry[kFlags] |= std::byte{8};
                      local[kLocalFlags] |= std::byte{8};
                      std::fill_n(local + kLocalCrc, 12, std::byte{0});
                    }),
            content);
}

TEST(ZipArchive, RejectsBytesThatAreNotAnArchive) {
  const std::vector<std::byte> bytes(1000);
  EXPECT_ERROR(FormatError, ZipArchive({bytes, nullptr}, "test.zip"),
               "test.zip: is not a zip archive");
  EXPECT_THROW(ZipArchive({{}, nullptr}, "test.zip"), FormatError);
}

template <class T>
void put(std::string& to, T number) {
  for (size_t i = 0; i < sizeof number; ++i) {
    to.push_back(static_cast<char>(static_cast<uint64_t>(number) >> (8 * i) & 0xff));
  }
}

// An archive of uncompressed members. It is written field by field, so that tests can set each
// field.
struct RawArchive {
  struct Entry {
    std::string name, content;
    uint16_t flags = 0;
    uint32_t packed_size = 0;  // set by add()
    uint32_t size = 0;
    uint32_t header = 0;
    std::string extra = {};
  };
  std::vector<Entry> entries;
  std::string local;         // headers and content
  std::string before_end;    // bytes between the directory and its end
  uint16_t count = 0;        // set by add()
  uint32_t more_size = 0;    // added to the size of the directory
  uint32_t more_offset = 0;  // added to the offset of the directory
  std::string comment;

  Entry& add(const std::string& name, const std::string& content) {
    const auto size = static_cast<uint32_t>(content.size());
    entries.push_back({.name = name,
                       .content = content,
                       .packed_size = size,
                       .size = size,
                       .header = static_cast<uint32_t>(local.size())});
    put(local, uint32_t{0x04034b50});
    local += std::string(22, '\0');  // the reader uses only the lengths
    put(local, static_cast<uint16_t>(name.size()));
    put(local, uint16_t{0});
    local += name + content;
    ++count;
    return entries.back();
  }

  std::vector<std::byte> bytes() const {
    std::string text = local;
    for (const Entry& entry : entries) {
      put(text, uint32_t{0x02014b50});
      put(text, uint32_t{0});  // versions
      put(text, entry.flags);
      text += std::string(10, '\0');  // method, time and CRC
      put(text, entry.packed_size);
      put(text, entry.size);
      put(text, static_cast<uint16_t>(entry.name.size()));
      put(text, static_cast<uint16_t>(entry.extra.size()));
      text += std::string(10, '\0');  // comment, disk and attributes
      put(text, entry.header);
      text += entry.name + entry.extra;
    }
    const auto size = static_cast<uint32_t>(text.size() - local.size());
    text += before_end;
    put(text, uint32_t{0x06054b50});
    put(text, uint32_t{0});  // disks
    put(text, count);
    put(text, count);
    put(text, size + more_size);
    put(text, static_cast<uint32_t>(local.size()) + more_offset);
    put(text, static_cast<uint16_t>(comment.size()));
    text += comment;
    const auto raw = std::as_bytes(std::span(text));
    return {raw.begin(), raw.end()};
  }
};

// Opens the archive and reads its members. Returns the error, or an empty string.
std::string zip_error(const std::vector<std::byte>& bytes) {
  return test::thrown<FormatError>([&] {
    const ZipArchive archive({bytes, nullptr}, "x.zip");
    for (const std::string& name : archive.names()) archive.read(name, 1000);
  });
}

RawArchive two_members() {
  RawArchive archive;
  archive.add("a", "first");
  archive.add("b", "");
  return archive;
}

TEST(ZipArchive, ReturnsSizesAndPresenceOfMembers) {
  const std::vector<std::byte> bytes = two_members().bytes();
  const ZipArchive archive({bytes, nullptr}, "x.zip");
  EXPECT_EQ(archive.read("a", 5).text(), "first");
  EXPECT_EQ(archive.read("b", 0).text(), "");
  EXPECT_EQ(archive.size_of("a"), 5u);
  EXPECT_EQ(archive.size_of("b"), 0u);
  EXPECT_EQ(archive.size_of("c"), 0u);
  EXPECT_TRUE(archive.has("b"));
  EXPECT_FALSE(archive.has("c"));
}

TEST(ZipArchive, FindsEndRecordFollowedByComment) {
  RawArchive archive = two_members();
  for (const size_t size : {size_t{0}, size_t{1}, size_t{21}, size_t{22}, size_t{65535}}) {
    archive.comment = std::string(size, 'c');
    EXPECT_EQ(zip_error(archive.bytes()), "") << size;
  }
  // The comment contains a record that looks like the end of another archive.
  archive.comment = "PK\5\6" + std::string(18, '\0') + "more";
  EXPECT_EQ(zip_error(archive.bytes()), "");
}

TEST(ZipArchive, RejectsADirectoryOutsideTheFile) {
  RawArchive archive = two_members();
  const auto file_size = static_cast<uint32_t>(archive.bytes().size());
  for (const uint32_t offset : {file_size, UINT32_MAX - 1000}) {
    archive.more_offset = offset;
    EXPECT_EQ(zip_error(archive.bytes()), "x.zip: the directory is outside the file");
  }
  archive = two_members();
  archive.more_size = file_size;
  EXPECT_EQ(zip_error(archive.bytes()), "x.zip: the directory is outside the file");
}

TEST(ZipArchive, RejectsMissingAndTruncatedEntries) {
  RawArchive archive = two_members();
  archive.count = 3;
  EXPECT_EQ(zip_error(archive.bytes()), "x.zip: directory entry 2: is missing");
  archive = two_members();
  archive.more_size = UINT32_MAX;  // one byte less than the directory has
  EXPECT_EQ(zip_error(archive.bytes()), "x.zip: directory entry 1: reaches past the directory");
  archive = two_members();
  archive.more_offset = 1;
  archive.more_size = UINT32_MAX;
  EXPECT_EQ(zip_error(archive.bytes()), "x.zip: directory entry 0: is missing");
}

TEST(ZipArchive, RejectsInconsistentEntries) {
  const auto error_with = [](auto change) {
    RawArchive archive = two_members();
    change(archive.entries[0]);
    return zip_error(archive.bytes());
  };
  using Entry = RawArchive::Entry;
  EXPECT_EQ(error_with([](Entry& entry) { entry.flags = 1; }), "x.zip: a: is encrypted");
  EXPECT_EQ(error_with([](Entry& entry) { entry.name = "b"; }),
            "x.zip: b: is in the archive twice");
  EXPECT_EQ(error_with([](Entry& entry) { entry.header = 1; }),
            "x.zip: a: the local header is not where the directory says");
  EXPECT_EQ(error_with([](Entry& entry) { entry.header = 1u << 30; }),
            "x.zip: a: the local header is not where the directory says");
  EXPECT_EQ(error_with([](Entry& entry) { entry.size = 4; }),
            "x.zip: a: is not compressed, but has 5 bytes in the archive and a size of 4");
  EXPECT_THAT(error_with([](Entry& entry) { entry.packed_size = entry.size = 10'000; }),
              HasSubstr("x.zip: a: overlaps other members"));
}

TEST(ZipArchive, RejectsContentPastTheEndOfTheFile) {
  RawArchive archive;
  archive.add("a", "first");
  const size_t size = archive.bytes().size();
  auto& entry = archive.entries[0];
  // The content starts after a local header of 31 bytes. The largest valid size is the number of
  // bytes after this header.
  entry.packed_size = entry.size = static_cast<uint32_t>(size - 31);
  EXPECT_EQ(zip_error(archive.bytes()), "");
  ++entry.packed_size;
  ++entry.size;
  EXPECT_EQ(zip_error(archive.bytes()), "x.zip: a: reaches past the file's end");
}

// If a size or the offset in a directory entry is 2^32 - 1, the extra field with the identifier 1
// contains the actual 64-bit value.
TEST(ZipArchive, ReadsSizesFromTheZip64Field) {
  const auto archive_with = [](const std::vector<uint64_t>& values, size_t length) {
    RawArchive archive;
    RawArchive::Entry& entry = archive.add("a", "first");
    entry.packed_size = entry.size = entry.header = UINT32_MAX;
    put(entry.extra, uint16_t{7});  // another field, which is skipped
    put(entry.extra, uint16_t{3});
    entry.extra += "abc";
    put(entry.extra, uint16_t{1});
    put(entry.extra, static_cast<uint16_t>(length));
    for (const uint64_t value : values) put(entry.extra, value);
    return archive.bytes();
  };
  EXPECT_EQ(zip_error(archive_with({5, 5, 0}, 24)), "");
  EXPECT_EQ(zip_error(archive_with({5, 5, 0}, 23)), "x.zip: a: the 64-bit sizes are truncated");
  EXPECT_EQ(zip_error(archive_with({5, 5}, 16)), "x.zip: a: the 64-bit sizes are truncated");
  EXPECT_THAT(zip_error(archive_with({5, UINT64_MAX, 0}, 24)), HasSubstr("overlaps"));
  EXPECT_EQ(zip_error(archive_with({5, 5, UINT64_MAX}, 24)),
            "x.zip: a: the local header is not where the directory says");
}

TEST(ZipArchive, RejectsZip64LocatorThatPointsToTheWrongOffset) {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX}) {
    RawArchive archive = two_members();
    put(archive.before_end, uint32_t{0x07064b50});
    put(archive.before_end, uint32_t{0});
    put(archive.before_end, offset);
    put(archive.before_end, uint32_t{1});
    EXPECT_EQ(zip_error(archive.bytes()),
              "x.zip: the 64-bit end of the directory is not where its locator says");
  }
}

TEST(ZipArchive, RejectsEveryTruncation) {
  const std::vector<std::byte> bytes = two_members().bytes();
  ASSERT_EQ(zip_error(bytes), "");
  test::for_each_truncation(
      bytes, [](const auto& cut, const auto& damage) { EXPECT_NE(zip_error(cut), "") << damage; });
}

TEST(ZipArchive, SurvivesFlippedBytes) {
  for (const bool packed : {false, true}) {
    const auto bytes = test::write_zip({{"a", "first"}, {"b", "second"}}, packed);
    size_t rejected = 0;
    test::for_each_changed_byte(bytes, [&](const auto& damaged, const auto&) {
      rejected += zip_error(damaged).empty() ? 0 : 1;
    });
    EXPECT_GT(rejected, bytes.size() / 4) << "offsets, lengths and signatures are checked";
  }
}

}  // namespace
}  // namespace vitrine
