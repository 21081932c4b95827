#include "base/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ZipArchive, RefusesBombs) {
  const std::vector<std::byte> bytes =
      test::write_zip({{"bomb", std::string(size_t{1} << 22, '\0')}}, true);
  const ZipArchive archive({bytes, nullptr}, "test.zip");
  EXPECT_THAT([&] { archive.read("bomb", UINT64_MAX); },
              ThrowsMessage<FormatError>(HasSubstr("test.zip: bomb: unpacks from")));
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
