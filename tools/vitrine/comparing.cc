#include "tools/vitrine/comparing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/common/command_line.h"
#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/messages.h"
#include "tools/common/tool_error.h"
#include "tools/vitrine/commands.h"
#include "vitrine/data_source.h"

namespace vitrine::tools {
namespace {

constexpr const char* kHelp =
    "Compares two programs on the same inputs, two traces, or two stored profiles (.json).\n"
    "  vitrine compare old.pte new.pte --fail_above 1.1\n"
    "  vitrine compare f32.pte int8.pte --debug_outputs\n"
    "  vitrine compare old.etdp new.etdp --etrecord model.etrecord\n"
    "  vitrine compare old.json new.json\n"
    "  vitrine compare old.json model.pte\n"
    "Usage: vitrine compare A B [OPTIONS]\n"
    "\n"
    "Options:\n"
    "  of programs:               vitrine run --help\n"
    "  of traces and profiles:    vitrine inspect --help\n"
    "  of token profiles:         vitrine chat --help\n";

// Returns the kind of a file, or nullopt if the kind is unknown.
std::optional<FileKind> kind_of(const char* path) {
  const std::unique_ptr<DataSource> file = check(map_file(path));
  const DataBuffer bytes = check(file->read(0, file->size()));
  return find_file_kind(bytes.bytes());
}

bool is_program(std::optional<FileKind> kind) {
  return kind == FileKind::kProgram || kind == FileKind::kBundledProgram;
}

}  // namespace

int compare(int argc, char** argv) {
  const std::vector<std::string_view> given(argv + 1, argv + argc);
  if (std::ranges::count(given, "--help") + std::ranges::count(given, "-h") != 0) {
    print_text(stdout, kHelp);
    return 0;
  }
  if (given.size() < 2 || given[0].starts_with('-') || given[1].starts_with('-')) {
    print_error("expected two files before the options: vitrine compare A B [OPTIONS]");
    return kExitUsage;
  }
  static char compare_option[] = "--compare";
  static char profile_option[] = "--profile";
  const std::optional<FileKind> a = kind_of(argv[1]);
  const std::optional<FileKind> b = kind_of(argv[2]);
  std::vector<char*> arguments = {argv[0]};
  if (is_program(a) && !is_program(b)) {
    print_error("expected the stored profile as A and the program as B; swap the two files");
    return kExitUsage;
  }
  if (is_program(b)) {
    // If A is a stored profile, executor_runner runs only B. Otherwise, it runs both programs.
    if (std::ranges::count(given, "--debug_outputs") == 0) arguments.push_back(profile_option);
    arguments.insert(arguments.end(),
                     {argv[is_program(a) ? 1 : 2], compare_option, argv[is_program(a) ? 2 : 1]});
  } else {
    arguments.insert(arguments.end(), {compare_option, argv[1], argv[2]});
  }
  arguments.insert(arguments.end(), argv + 3, argv + argc);
  const bool has_tokens = a == FileKind::kTokenProfile || b == FileKind::kTokenProfile;
  auto* const tool = is_program(b) ? executor_runner : has_tokens ? llm_runner : pte_inspect;
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return tool(count, arguments.data());
}

}  // namespace vitrine::tools
