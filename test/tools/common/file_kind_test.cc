#include "tools/common/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "test/support/corpus.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using testing::HasSubstr;

std::optional<FileKind> kind_of(std::string_view bytes) {
  return find_file_kind(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

TEST(FindFileKind, RecognizesIdentifiers) {
  EXPECT_EQ(kind_of("\x1c\x00\x00\x00"
                    "ET12"),
            std::nullopt);  // the text ends at the first zero
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(kind_of("\x1c\0\0\0ET12"sv), FileKind::kProgram);
  EXPECT_EQ(kind_of("\x1c\0\0\0BP08"sv), FileKind::kBundledProgram);
  EXPECT_EQ(kind_of("\x1c\0\0\0ED00"sv), FileKind::kTrace);
  EXPECT_EQ(kind_of("\x1c\0\0\0TFL3"sv), FileKind::kTfliteModel);
  EXPECT_EQ(kind_of("\x93NUMPY\x01\0"sv), FileKind::kNumpyArray);
  EXPECT_EQ(kind_of("GGUF\x03"), FileKind::kGguf);
  EXPECT_EQ(kind_of("{\n \"schema_version\": 3"), FileKind::kProfile);
  EXPECT_EQ(kind_of("{\n \"version\": 1,\n \"run\": {"), FileKind::kTokenProfile);
}

TEST(FindFileKind, ReturnsNothingForShortAndUnknownFiles) {
  EXPECT_EQ(kind_of(""), std::nullopt);
  EXPECT_EQ(kind_of("ET12"), std::nullopt);
  EXPECT_EQ(kind_of("{\"model\": 1}"), std::nullopt);
}

TEST(FindFileKind, RecognizesArchivesByTheirMembers) {
  const auto model = read_file(test::sample("linear_relu/model.pt2"));
  EXPECT_EQ(find_file_kind(model), FileKind::kExportedModel);
  // A truncated archive lacks the directory of its members.
  EXPECT_EQ(find_file_kind(std::span(model).first(1000)), FileKind::kArchive);
}

std::string error_of(std::string_view bytes) try {
  (void)kind_of_file(std::as_bytes(std::span(bytes.data(), bytes.size())), "file");
  return "";
} catch (const HostError& error) {
  return error.what();
}

TEST(KindOfFile, ErrorTellsWhatToDoWithFilesOfOtherTools) {
  EXPECT_THAT(error_of("GGUF\x03"), HasSubstr("found a GGUF model (.gguf): export the PyTorch"));
  EXPECT_THAT(error_of("some text, not a model"), HasSubstr("the kind of file is unknown"));
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
}

TEST(WrongKindText, ShowsTheCommandThatLowersAModel) {
  EXPECT_EQ(wrong_kind_text("a/m.pt2", "a program (.pte)", FileKind::kExportedModel),
            "a/m.pt2: expected a program (.pte), found an exported model (.pt2): lower it with "
            "'vitrine lower a/m.pt2 --backend xnnpack -o a/m.pte', or run it with 'vitrine run "
            "a/m.pt2'");
}

}  // namespace
}  // namespace vitrine::tools
