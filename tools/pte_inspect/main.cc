// pte_inspect: describes files.
#include "host/command_line.h"
#include "host/files.h"
#include "tools/pte_inspect/inspect.h"

int main(int argc, char** argv) {
  using namespace vitrine::tools;
  return run_tool("pte_inspect", [&] {
    int exit_code = 0;
    const auto options = parse_inspect_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    std::vector<std::filesystem::path> read = options->files;
    for (const auto* more : {&options->data, &options->etrecords, &options->debug_buffers}) {
      read.insert(read.end(), more->begin(), more->end());
    }
    check_outputs({{options->report.file}}, read);
    const Inspection result = inspect(*options);
    write_report(result.text, options->report);
    return result.exit_code;
  });
}
