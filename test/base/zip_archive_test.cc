#include "base/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format_error.h"
#include "test/aot/import/pt2_writer.h"

namespace vitrine {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const test::ArchiveMembers kMembers = {{"a", "first"}, {"folder/b", std::string(3000, 'b')}};

TEST(ZipArchive, ReadsPlainMembersInPlace) {
  const std::vector<std::byte> bytes = test::write_zip(kMembers);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_THAT(archive.names(), testing::ElementsAre("a", "folder/b"));
  const SharedBytes member = archive.read("folder/b", 3000);
  EXPECT_EQ(member.text(), kMembers[1].second);
  EXPECT_GE(member.span.data(), bytes.data());
  EXPECT_LT(member.span.data(), bytes.data() + bytes.size());
}

TEST(ZipArchive, UnpacksPackedMembers) {
  const std::vector<std::byte> bytes = test::write_zip(kMembers, true);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_EQ(archive.read("folder/b", 3000).text(), kMembers[1].second);
}

TEST(ZipArchive, ChecksCopiesAgainstTheirCrc) {
  std::vector<std::byte> bytes = test::write_zip(kMembers);
  EXPECT_EQ(ZipArchive({bytes, nullptr}, "test.zip").read_checked("a", 5), "first");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  bytes[text.find("first")] = std::byte{'F'};
  const ZipArchive damaged({bytes, nullptr}, "test.zip");
  EXPECT_THAT([&] { damaged.read_checked("a", 5); },
              ThrowsMessage<FormatError>(HasSubstr("test.zip: a: CRC error")));
}

TEST(ZipArchive, RefusesWhatIsTooLarge) {
  const std::vector<std::byte> bytes = test::write_zip(kMembers);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_THAT([&] { archive.read("folder/b", 2999); },
              ThrowsMessage<FormatError>(
                  HasSubstr("test.zip: folder/b: has 3000 bytes; at most 2999 are read")));
  EXPECT_THAT([&] { archive.read("c", 1); },
              ThrowsMessage<FormatError>(HasSubstr("test.zip: c: is not in the archive")));
}

TEST(ZipArchive, NamesAFileThatIsMissingOnce) {
  EXPECT_THAT([] { ZipArchive::open("/nowhere"); },
              ThrowsMessage<FormatError>(testing::StrEq("/nowhere: No such file or directory")));
}

TEST(ZipArchive, RefusesBombs) {
  const std::vector<std::byte> bytes =
      test::write_zip({{"bomb", std::string(size_t{1} << 22, '\0')}}, true);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_THAT([&] { archive.read("bomb", UINT64_MAX); },
              ThrowsMessage<FormatError>(HasSubstr("test.zip: bomb: unpacks from")));
}

// The member of an archive of one, packed, after `change` to its directory entry and its data.
template <class Change>
std::string changed(const std::string& content, Change&& change) {
  std::vector<std::byte> bytes = test::write_zip({{"a", content}}, true);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  change(bytes.data() + text.find("PK\1\2"), bytes.data());
  return ZipArchive({bytes, nullptr}, "test.zip").read_checked("a", UINT64_MAX);
}

// Where fields are in a directory entry, and in a local header.
constexpr size_t kFlags = 8, kMethod = 10, kSize = 24;
constexpr size_t kLocalFlags = 6, kLocalCrc = 14, kLocalName = 30;

TEST(ZipArchive, RefusesPackedBytesThatAreNotOfTheirSize) {
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

TEST(ZipArchive, RefusesPackedBytesThatEndTooSoonOrAreDamaged) {
  std::string content;
  for (uint32_t i = 0, bits = 1; i < 3000; ++i, bits = bits * 1664525 + 1013904223) {
    content.push_back(static_cast<char>(bits >> 24));  // hardly shrinks
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

TEST(ZipArchive, RefusesOtherWaysToPack) {
  EXPECT_THAT(
      [&] { changed("abc", [](std::byte* entry, std::byte*) { entry[kMethod] = std::byte{12}; }); },
      ThrowsMessage<FormatError>("test.zip: a: is packed by method 12, which is not supported"));
}

TEST(ZipArchive, NeedsNoSizesInLocalHeaders) {  // writers that stream put them after the data
  const std::string content(3000, 'b');
  EXPECT_EQ(changed(content,
                    [](std::byte* entry, std::byte* local) {
                      entry[kFlags] |= std::byte{8};
                      local[kLocalFlags] |= std::byte{8};
                      std::fill_n(local + kLocalCrc, 12, std::byte{0});
                    }),
            content);
}

TEST(ZipArchive, RefusesWhatIsNoArchive) {
  const std::vector<std::byte> bytes(1000);
  EXPECT_THAT(
      [&] {
        ZipArchive({bytes, nullptr}, "test.zip");
      },
      ThrowsMessage<FormatError>(HasSubstr("test.zip: is not a zip archive")));
  EXPECT_THROW(ZipArchive({{}, nullptr}, "test.zip"), FormatError);
}

}  // namespace
}  // namespace vitrine
