// Checks the source tree: includes, file lengths, forbidden words, and names and code in the
// documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "test/architecture/include_rules.h"
#include "test/support/read_text.h"

namespace vitrine::architecture {
namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kMaxLines = 500;
constexpr std::ptrdiff_t kMaxLinesPerPage = 700;
constexpr std::array<std::string_view, 3> kOtherFolders = {"toolchains", "cmake", "docs"};
constexpr std::array<std::string_view, 4> kCode = {".h", ".cc", ".inc", ".c"};
constexpr std::array<std::string_view, 9> kText = {".h",     ".cc",  ".inc", ".c", ".fbs",
                                                   ".cmake", ".txt", ".md",  ".sh"};

bool has_extension(const fs::path& path, std::span<const std::string_view> extensions) {
  return std::ranges::count(extensions, path.extension().string()) != 0;
}

// Returns the paths of all text files, relative to the root of the tree. Skips folders named
// "samples".
std::vector<fs::path> files() {
  const fs::path root = VITRINE_SOURCE_DIR;
  std::vector<fs::path> found;
  const auto add_folder = [&](const fs::path& folder) {
    if (!fs::is_directory(folder)) return;
    for (auto entry = fs::recursive_directory_iterator(folder);
         entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->is_directory() && entry->path().filename() == "samples") {
        entry.disable_recursion_pending();
      }
      if (entry->is_regular_file() && has_extension(entry->path(), kText)) {
        found.push_back(entry->path().lexically_relative(root));
      }
    }
  };
  for (const std::string_view folder : kOtherFolders) add_folder(root / folder);
  add_folder(root / "include");
  std::set<std::string> tops;  // top folders of the rooms
  for (const Room& room : rooms()) tops.insert(room.folder.substr(0, room.folder.find('/')));
  for (const std::string& folder : tops) add_folder(root / folder);
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file() && has_extension(entry.path(), kText)) {
      found.push_back(entry.path().lexically_relative(root));
    }
  }
  return found;
}

std::string contents(const fs::path& path) {
  return test::read_text(fs::path(VITRINE_SOURCE_DIR) / path);
}

TEST(SourceTree, ContainsKnownFiles) {
  const std::vector<fs::path> all = files();
  EXPECT_EQ(std::ranges::count(all, fs::path("runtime/core/tensor.cc")), 1);
  EXPECT_EQ(std::ranges::count(all, fs::path("test/architecture/source_tree_test.cc")), 1);
  EXPECT_EQ(std::ranges::count(all, fs::path("CMakeLists.txt")), 1);
}

TEST(SourceTree, IncludeDirectivesFollowTheTable) {
  std::vector<std::string> found;
  for (const fs::path& path : files()) {
    // Skips the files in cmake/, which are used to build third-party libraries and do not belong to
    // a room.
    if (!has_extension(path, kCode) || *path.begin() == "cmake") continue;
    const std::vector<std::string> in_file = violations(path.generic_string(), contents(path));
    found.insert(found.end(), in_file.begin(), in_file.end());
  }
  EXPECT_THAT(found, testing::IsEmpty());
}

TEST(SourceTree, EveryFolderUsesAllLibrariesItMayInclude) {
  std::map<std::string, std::string> sources;
  for (const fs::path& path : files()) {
    if (has_extension(path, kCode)) sources[path.generic_string()] = contents(path);
  }
  EXPECT_THAT(unused_permissions(sources), testing::IsEmpty());
}

TEST(SourceTree, FilesAreShort) {
  for (const fs::path& path : files()) {
    const std::string text = contents(path);
    const bool is_page = path.extension() == ".md";
    EXPECT_LE(std::ranges::count(text, '\n'), is_page ? kMaxLinesPerPage : kMaxLines) << path;
  }
}

// True if `name` is a room, or the path of a folder or of a file (with or without .cc or .h). Rooms
// are checked separately, because a room with only public headers need not have a folder.
bool exists(const std::string& name) {
  if (std::ranges::count(rooms(), name, &Room::folder) != 0) return true;
  const fs::path path = fs::path(VITRINE_SOURCE_DIR) / name;
  return fs::exists(path) || fs::exists(path.string() + ".cc") || fs::exists(path.string() + ".h");
}

// Returns the paths in a text, such as "`runtime/core/tensor.cc`". Skips patterns and code blocks.
std::vector<std::string> named_paths(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code) continue;
    for (size_t begin = line.find('`'); begin != std::string::npos;) {
      const size_t end = std::min(line.find('`', begin + 1), line.size());
      const std::string name = line.substr(begin + 1, end - begin - 1);
      begin = line.find('`', end + 1);
      const size_t slash = name.find('/');
      if (slash == std::string::npos || name.find_first_of(" <*{:|") != std::string::npos ||
          slash == 0 || name.starts_with("build/") || !exists(name.substr(0, slash))) {
        continue;
      }
      found.push_back(name);
    }
  }
  return found;
}

TEST(SourceTree, DocumentationMentionsOnlyExistingFiles) {
  size_t names = 0;
  for (const fs::path& path : files()) {
    if (path.extension() != ".md") continue;
    for (const std::string& name : named_paths(contents(path))) {
      ++names;
      EXPECT_TRUE(exists(name)) << path << " names " << name;
    }
  }
  EXPECT_GT(names, 50u);
}

// Returns the names of all tests in the tree, such as "SourceTree.FilesAreShort".
std::set<std::string> tests() {
  const std::regex macro(R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  std::set<std::string> found;
  for (const fs::path& path : files()) {
    if (!path.filename().string().ends_with("_test.cc")) continue;
    const std::string text = contents(path);
    for (std::sregex_iterator at(text.begin(), text.end(), macro), end; at != end; ++at) {
      found.insert(at->str(1) + "." + at->str(2));
    }
  }
  return found;
}

// docs/trust.md names tests as "`KernelErrors.*`" or "`DamageTest`".
TEST(SourceTree, DocumentationMentionsOnlyExistingTests) {
  const std::set<std::string> all = tests();
  const std::string page = contents("docs/trust.md");
  const std::regex cited(R"(`([A-Z]\w*(?:Test|\.[A-Z*][\w*]*))`)");
  size_t names = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), cited), end; at != end; ++at, ++names) {
    std::string name = at->str(1);
    if (name.find('.') == std::string::npos) name += ".*";
    name = std::regex_replace(std::regex_replace(name, std::regex(R"(\.)"), R"(\.)"),
                              std::regex(R"(\*)"), ".*");
    const std::regex pattern(name);
    EXPECT_TRUE(std::ranges::any_of(
        all, [&](const std::string& test) { return std::regex_match(test, pattern); }))
        << "docs/trust.md names the test " << at->str(1) << ", which does not exist";
  }
  EXPECT_GT(names, 40u);
}

// Each code block of these pages must be copied from a file that the same section names above the
// block.
class CodeInDocumentation : public testing::TestWithParam<const char*> {};

TEST_P(CodeInDocumentation, AppearsInTheNamedSourceFile) {
  const std::string page = contents(GetParam());
  constexpr std::string_view kBegin = "\n```cpp\n";
  size_t blocks = 0;
  for (size_t begin = page.find(kBegin); begin != std::string::npos;
       begin = page.find(kBegin, begin + 1)) {
    ++blocks;
    const std::string above = page.substr(0, begin);
    const size_t code = begin + kBegin.size();
    const std::string block = page.substr(code, page.find("\n```", code) - code);
    bool is_found = false;
    const std::vector<std::string> names = named_paths(above.substr(above.rfind("\n## ")));
    for (const std::string& name : names) {
      const fs::path path = name;
      is_found = is_found || (has_extension(path, kCode) && exists(name) &&
                              contents(path).find(block) != std::string::npos);
    }
    EXPECT_TRUE(is_found) << block << "\nis in none of " << testing::PrintToString(names);
  }
  EXPECT_GE(blocks, 5U);
}

INSTANTIATE_TEST_SUITE_P(Pages, CodeInDocumentation,
                         testing::Values("docs/contributing.md", "docs/writing_a_backend.md"),
                         [](const auto& page) { return "Page" + std::to_string(page.index); });

// Device code is compiled without exceptions and RTTI, but only host code compiles some parts of
// device headers. So this test searches the text of all device code.
TEST(SourceTree, DeviceCodeUsesNoExceptionsOrRtti) {
  for (const fs::path& path : files()) {
    const Room* room = room_of(path.generic_string());
    if (room == nullptr || !room->is_device || !has_extension(path, kCode)) continue;
    std::istringstream lines(contents(path));
    for (std::string line; std::getline(lines, line);) {
      line.resize(std::min(line.find("//"), line.size()));
      for (const char* word : {"throw ", "dynamic_cast<", "typeid("}) {
        EXPECT_EQ(line.find(word), std::string::npos) << path << ": " << line;
      }
    }
  }
}

// Users compile the public headers without the headers that flatc generates.
TEST(SourceTree, PublicHeadersUseNoGeneratedTypes) {
  size_t num_files = 0;
  for (const fs::path& path : files()) {
    if (*path.begin() != "include") continue;
    ++num_files;
    std::istringstream lines(contents(path));
    for (std::string line; std::getline(lines, line);) {
      line.resize(std::min(line.find("//"), line.size()));
      for (const char* word : {"schema", "flatbuffers", "_generated"}) {
        EXPECT_EQ(line.find(word), std::string::npos) << path << ": " << line;
      }
    }
  }
  EXPECT_GT(num_files, 30U);
}

// Lowering and reports must use a backend only through the interfaces in aot/lowering/backend.h and
// inspector/join/delegate_profile.h.
TEST(SourceTree, LoweringAndInspectorMentionNoBackend) {
  size_t num_files = 0;
  for (const fs::path& path : files()) {
    const std::string top = path.begin()->string();
    if ((top != "aot" && top != "inspector") || !has_extension(path, kCode)) continue;
    ++num_files;
    std::istringstream lines(contents(path));
    for (std::string line; std::getline(lines, line);) {
      line.resize(std::min(line.find("//"), line.size()));
      std::ranges::transform(line, line.begin(), [](unsigned char c) { return std::tolower(c); });
      for (const char* name : {"xnnpack", "mappingdemo", "demo_backend"}) {
        EXPECT_EQ(line.find(name), std::string::npos) << path << ": " << line;
      }
    }
  }
  EXPECT_GT(num_files, 100U);
}

}  // namespace
}  // namespace vitrine::architecture
