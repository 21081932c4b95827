#include "tools/common/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "test/support/corpus.h"
#include "test/support/expect_error.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/support/scratch_folder.h"
#include "tools/common/file_kind.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using test::read_text;
using test::ScratchFolder;
using testing::HasSubstr;

// Limits the size of the files that this process writes. Longer writes fail in the same way as on a
// full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    former_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &former_);
    rlimit limit = former_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    std::signal(SIGXFSZ, former_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit former_{};
  void (*former_handler_)(int);
};

size_t files_in(const ScratchFolder& scratch) {
  const auto folder = (scratch / "").parent_path();
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(FilesTest, RejectsOutputsThatAreInputsOrOtherOutputs) {
  const ScratchFolder scratch;
  using Paths = std::vector<std::filesystem::path>;
  const auto error = [](const Paths& outputs, const Paths& inputs) {
    return test::thrown<ToolError>([&] { check_outputs(outputs, inputs); });
  };
  const auto model = scratch / "model.pte";
  const auto other = scratch / "other.pte";
  write_file(model, std::string_view("model"));
  std::filesystem::create_symlink(model, scratch / "link");
  EXPECT_THAT(error({model}, {other, model}), HasSubstr("model.pte: is an input, which"));
  EXPECT_THAT(error({scratch / "link"}, {model}), HasSubstr("is an input, which"));
  EXPECT_THAT(error({other, scratch / "." / "other.pte"}, {model}),
              HasSubstr("is given for two outputs"));
  EXPECT_EQ(error({other, "", ""}, {model, ""}), "");
  EXPECT_EQ(error({"/dev/null", "/dev/null"}, {"/dev/null"}), "");
}

TEST(FilesTest, ReadsPipesUpToALimit) {
  const ScratchFolder scratch;
  const std::filesystem::path pipe = scratch / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string text(200'000, 'x');
  std::thread writer([&] { std::ofstream(pipe) << text; });
  const std::vector<std::byte> bytes = read_file(pipe);
  writer.join();
  EXPECT_EQ(bytes.size(), text.size());
  EXPECT_ERROR(ToolError, read_file("/dev/zero"), "has more than 268435456 bytes");
}

TEST(FilesTest, FailedWriteKeepsTheOldFileAndLeavesNoTemporaryFile) {
  const ScratchFolder scratch;
  const auto path = scratch / "report";
  write_file(path, "good");
  // The first write fails in append(), the second one when the buffer is flushed.
  for (const size_t bytes : {size_t{1} << 20, size_t{2000}}) {
    const FileSizeLimit limit(1000);
    EXPECT_ERROR(ToolError, write_file(path, std::string(bytes, 'x')),
                 "report: cannot write: File too large");
  }
  EXPECT_EQ(read_text(path), "good");
  EXPECT_EQ(files_in(scratch), 1u);
}

TEST(FilesTest, WritesDirectlyToDevices) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system lacks /dev/full";
  EXPECT_ERROR(ToolError, write_file("/dev/full", "lost"),
               "/dev/full: cannot write: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(FilesTest, WritesThroughLinks) {
  const ScratchFolder scratch;
  write_file(scratch / "file", "old");
  std::filesystem::create_symlink(scratch / "file", scratch / "link");
  write_file(scratch / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_EQ(read_text(scratch / "file"), "new");
}

TEST(FilesTest, ReportsThePathIfTheFolderIsMissing) {
  const ScratchFolder scratch;
  EXPECT_ERROR(ToolError, write_file(scratch / "none" / "file", ""),
               "none/file: cannot create: No such file or directory");
}

std::optional<FileKind> kind_of(std::string_view bytes) {
  return find_file_kind(std::as_bytes(std::span(bytes)));
}

TEST(FindFileKind, RecognizesIdentifiers) {
  EXPECT_EQ(kind_of("\x1c"), std::nullopt);
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

TEST(KindOfFile, ErrorTellsWhatToDoWithFilesOfOtherTools) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"GGUF\x03", "found a GGUF model (.gguf): export the PyTorch"},
      {"some text, not a model", "the kind of file is unknown"},
      {"", "the file is empty"}};
  for (const auto& row : cases) {
    SCOPED_TRACE(row.first);
    EXPECT_ERROR(HostError, kind_of_file(std::as_bytes(std::span(row.first)), "file"), row.second);
  }
}

TEST(WrongKindText, ShowsTheCommandThatLowersAModel) {
  EXPECT_EQ(wrong_kind_text("a/m.pt2", "a program (.pte)", FileKind::kExportedModel),
            "a/m.pt2: expected a program (.pte), found an exported model (.pt2): lower it with "
            "'vitrine lower a/m.pt2 --backend xnnpack -o a/m.pte', or run it with 'vitrine run "
            "a/m.pt2'");
}

}  // namespace
}  // namespace vitrine::tools
