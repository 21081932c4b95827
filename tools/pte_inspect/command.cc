// pte_inspect: describes, verifies and compares files.
#include "demo_backend/profile.h"
#include "demo_backend/runtime.h"
#include "tools/common/command_line.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/files.h"
#include "tools/pte_inspect/inspect.h"
#include "tools/vitrine/commands.h"

namespace vitrine::tools {

int pte_inspect(int argc, char** argv) {
  return run_tool("pte_inspect", [&] {
    add_backend(demo::backend(), demo::profile());
    int exit_code = 0;
    const auto options = parse_inspect_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    std::vector<std::filesystem::path> read = options->files;
    for (const auto* more :
         {&options->data, &options->etrecords, &options->programs, &options->debug_buffers}) {
      read.insert(read.end(), more->begin(), more->end());
    }
    for (const auto* one : {&options->trace, &options->source}) {
      if (!one->empty()) read.push_back(*one);
    }
    check_outputs({{options->report.file}}, read);
    const Inspection result = inspect(*options);
    write_report(result.text, options->report);
    return result.exit_code;
  });
}

}  // namespace vitrine::tools
