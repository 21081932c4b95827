// pte_inspect: describes files.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "host/files.h"
#include "tools/pte_inspect/inspect.h"

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    const auto options = vitrine::tools::parse_inspect_options(argc, argv, &exit_code);
    if (!options) return exit_code;
    std::vector<std::filesystem::path> read = options->files;
    for (const auto* more : {&options->data, &options->etrecords, &options->debug_buffers}) {
      read.insert(read.end(), more->begin(), more->end());
    }
    vitrine::tools::check_outputs({{options->report.file}}, read);
    const vitrine::tools::Inspection result = vitrine::tools::inspect(*options);
    vitrine::tools::write_report(result.text, options->report);
    vitrine::tools::flush_standard_output();
    return result.exit_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "pte_inspect: {}\n", error.what());
    return 1;
  }
}
