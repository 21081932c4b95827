#include "tools/vitrine/stripping.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "tools/common/command_line.h"
#include "tools/common/file_kind.h"
#include "tools/common/files.h"
#include "tools/common/messages.h"
#include "tools/common/stripped_program.h"
#include "tools/common/tool_error.h"
#include "vitrine/data_source.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

void write_stripped(const fs::path& model, const fs::path& output, const fs::path& record) {
  const fs::path written[] = {output, record};
  check_outputs(written, {{model}});
  const std::unique_ptr<DataSource> file = check(map_file(model.c_str()));
  const DataBuffer bytes = check(file->read(0, file->size()));
  check_kind(model, bytes.bytes(), "a program (.pte)", {FileKind::kProgram});
  auto loaded = Program::load(check(view_buffer(bytes.bytes())));
  if (!loaded.ok()) throw ToolError(loaded.take_error().in("%s", model.c_str()));
  NewFiles files;
  NewFile& program = files.add(output);
  std::optional<std::span<const std::byte>> removed;
  try {
    removed = strip_record(**loaded, bytes.bytes(), [&](auto piece) { program.append(piece); });
  } catch (const ToolError& error) {
    throw ToolError(fmt::format("{}: {}", model.string(), error.what()));
  }
  if (removed && !record.empty()) files.add(record).append(*removed);
  if (!removed) program.append(bytes.bytes());
  files.commit();
  if (removed) {
    print_note(fmt::format("the program has {} bytes instead of {}: removed a record of {} bytes",
                           program.size(), bytes.size(), removed->size()));
  } else {
    print_warning(fmt::format("{}: the program does not contain a record; {} is an identical copy",
                              model.string(), output.string()));
  }
}

}  // namespace

int strip(int argc, char** argv) {
  CLI::App app(
      "Removes the record from a program: the names of source ops, modules and lines, which only "
      "profiles need. Nothing else changes.\n"
      "  vitrine strip model.pte -o small.pte --etrecord model.etrecord",
      "vitrine strip");
  app.get_formatter()->column_width(30);
  fs::path model, output, record;
  app.add_option("model", model, "program (.pte) that pte_lower wrote")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output", output, "program to write")->required()->type_name("FILE");
  app.add_option("--etrecord", record,
                 "also write the record to this file, for executor_runner --etrecord")
      ->type_name("FILE");
  int exit_code = 0;
  const auto check_paths = [&] {
    if (output == "-") output = "/dev/stdout";
  };
  if (!parse_command_line(app, argc, argv, check_paths, &exit_code)) return exit_code;
  write_stripped(model, output, record);
  return 0;
}

}  // namespace vitrine::tools
