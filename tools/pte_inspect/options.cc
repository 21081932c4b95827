#include "tools/pte_inspect/options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace vitrine::tools {

std::optional<InspectOptions> parse_inspect_options(int argc, char** argv, int* exit_code) {
  CLI::App app(
      "Tells what a file is and what is in it: programs (.pte, .bpte), their data (.ptd), "
      "exported\n"
      "models (.pt2), traces (ETDump), records (ETRecord), XNNPACK payloads.\n"
      "  pte_inspect model.pte\n"
      "  pte_inspect trace.etdp --etrecord model.etrecord\n"
      "  pte_inspect --compare old.etdp new.etdp --etrecord model.etrecord --fail-above 1.1",
      "pte_inspect");
  app.get_formatter()->column_width(36);
  InspectOptions options;
  bool ops = false, verify = false, compare = false;
  std::string graph;
  const std::map<std::string, ReportFormat> formats = {
      {"table", ReportFormat::kTable}, {"json", ReportFormat::kJson}, {"csv", ReportFormat::kCsv}};
  app.add_option("files", options.files, "what to look at")->required()->type_name("FILE");
  app.add_flag("--ops", ops,
               "operators that the programs need, one name a line (for selective builds)");
  app.add_flag("--graph{text}", graph, "what runs in order; --graph=dot is for Graphviz")
      ->check(CLI::IsMember({"text", "dot"}));
  app.add_flag("--verify", verify, "all checks of loading, with the place");
  app.add_flag("--compare", compare, "two traces, old and new, aligned by source op");
  app.add_flag("--json", options.json, "for programs (docs/inspecting.md)");
  app.add_flag("--all", options.all, "all rows of long tables");
  app.add_option("--data_path", options.data, "external weights (.ptd), for --verify")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("FILES");
  app.add_option("--etrecord", options.etrecords,
                 "source ops and modules of a trace; for --compare one of both, or old,new")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::ExistingFile)
      ->type_name("FILES");
  app.add_option("--method_name", options.method, "what a trace is of")->capture_default_str();
  auto* format = app.add_option("--format", options.report.format,
                                "the profile of a trace alone, as table, json or csv")
                     ->transform(CLI::CheckedTransformer(formats).description(""))
                     ->type_name("FORMAT");
  app.add_option("--output", options.report.file, "instead of standard output")->type_name("FILE");
  app.add_option("--width", options.report.width, "columns (default: the terminal's, or 100)")
      ->type_name("N");
  app.add_flag("--ids", options.report.ids, "instruction and debug identifiers in profiles");
  app.add_option("--fail-above,--fail_above", options.fail_above,
                 "with --compare: exit code 2 if new takes more than RATIO times as long as old")
      ->check(CLI::PositiveNumber)
      ->type_name("RATIO");
  try {
    app.parse(argc, argv);
    if (ops + verify + compare + !graph.empty() > 1) {
      throw CLI::ValidationError("--ops, --graph, --verify and --compare", "exclude each other");
    }
    if (compare && options.files.size() != 2) {
      throw CLI::ValidationError("--compare", "needs two traces, old and new");
    }
    if (compare && options.report.format == ReportFormat::kCsv) {
      throw CLI::ValidationError("--format", "a comparison is a table or json");
    }
    if (!compare && options.fail_above) {
      throw CLI::ValidationError("--fail-above", "needs --compare");
    }
    if (options.etrecords.size() > (compare ? 2u : 1u)) {
      throw CLI::ValidationError("--etrecord", compare ? "one or two" : "one");
    }
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error);
    return std::nullopt;
  }
  options.has_format = format->count() > 0;
  if (ops) options.task = Task::kOperators;
  if (!graph.empty()) options.task = graph == "dot" ? Task::kGraphDot : Task::kGraphText;
  if (verify) options.task = Task::kVerify;
  if (compare) options.task = Task::kCompare;
  return options;
}

}  // namespace vitrine::tools
