#include "tools/pte_inspect/options.h"

#include <utility>

#include "tools/common/command_line.h"
#include "tools/common/report_options.h"

namespace vitrine::tools {

std::optional<InspectOptions> parse_inspect_options(int argc, char** argv, int* exit_code) {
  CLI::App app(
      "Shows the kind and content of files: programs (.pte, .bpte), external weights (.ptd),\n"
      "exported models (.pt2, .ptn), traces (ETDump), records (ETRecord) and payloads of "
      "delegates.\n"
      "  pte_inspect model.pte\n"
      "  pte_inspect model.pte --output graph.html\n"
      "  pte_inspect trace.etdp --etrecord model.etrecord\n"
      "  pte_inspect trace.etdp --program model.pte\n"
      "  pte_inspect --compare old.etdp new.etdp --etrecord model.etrecord --fail_above 1.1",
      "pte_inspect");
  app.get_formatter()->column_width(30);
  InspectOptions options;
  bool ops = false, explain = false, verify = false, compare = false;
  std::string graph;
  app.add_option("files", options.files, "files to inspect")->required()->type_name("FILE");
  app.add_flag("--ops", ops,
               "print the operators that the programs call, one per line (for selective builds)");
  app.add_flag(
         "--graph{text}", graph,
         "print the instructions in order; --graph=dot and --graph=model_explorer print a graph "
         "for Graphviz and for Model Explorer; --format html draws a page")
      ->check(CLI::IsMember({"text", "dot", "model_explorer"}).description(""));
  app.add_flag("--explain", explain,
               "print the source ops in each delegate, and the calls between delegates; needs "
               "--etrecord or a program that contains its record");
  app.add_flag("--verify", verify,
               "run all checks that loading does, and print the results; exit code 1 if one fails");
  app.add_flag(
      "--compare", compare,
      "compare two traces or stored profiles (.json), old and new, aligned by source op; with "
      "--format html also two programs");
  app.add_flag("--json", options.json, "print JSON (docs/inspecting.md)");
  app.add_flag("--all", options.all, "print all rows of long tables");
  as_files(
      app.add_option("--data,--data_path", options.data,
                     "external weights (.ptd), for --verify and for the payloads of delegates"));
  as_files(app.add_option(
               "--etrecord", options.etrecords,
               "ETRecord of a trace, or a program that contains it; with --compare, one for both "
               "traces, or old,new"))
      ->check(CLI::ExistingFile.description(""));
  as_files(app.add_option("--program", options.programs,
                          "program that ran in the trace; the rows get names from its delegates "
                          "and its record; with --compare, one for both traces, or old,new"))
      ->check(CLI::ExistingFile.description(""));
  app.add_option("--trace", options.trace,
                 "with --format html: trace or stored profile (.json) of the program; its times "
                 "color the graph")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  app.add_option("--source", options.source,
                 "with --format html: exported model (.pt2) from which the program was lowered; "
                 "nodes outside of delegates then say why XNNPACK does not execute them")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("MODEL");
  app.add_option("--method,--method_name", options.method, "method that the trace recorded")
      ->capture_default_str()
      ->type_name("NAME");
  const OptionGroup report(app, "Profiles and comparisons");
  add_report_options(report, options.report);
  as_files(
      report.add_option(
          "--debug_buffer", options.debug_buffers,
          "with --compare: files of the ops' outputs, old,new (default: the traces' names plus "
          ".data)"))
      ->check(CLI::ExistingFile.description(""));
  add_fail_above(report, options.fail_above);
  report
      .add_option("--min_sqnr", options.min_sqnr,
                  "minimum SQNR of an op's outputs; exit code 2 if lower")
      ->type_name("DB");
  const auto check = [&] {
    choose_format(app, options.report);
    if (ops + explain + verify + compare + !graph.empty() > 1) {
      throw CLI::ValidationError("--ops, --graph, --explain, --verify and --compare",
                                 "cannot be used together");
    }
    if (compare && options.files.size() != 2) {
      throw CLI::ValidationError("--compare",
                                 "needs two traces, stored profiles or programs, old and new");
    }
    const bool draws = !compare && options.report.format == ReportFormat::kHtml;
    if ((draws || graph == "model_explorer") && options.files.size() != 1) {
      throw CLI::ValidationError("--format html and --graph=model_explorer", "need one file");
    }
    if (compare) check_fits_comparison(options.report);
    if (!compare && (options.fail_above || options.min_sqnr || !options.debug_buffers.empty())) {
      throw CLI::ValidationError("--fail_above, --min_sqnr and --debug_buffer", "need --compare");
    }
    if (!options.debug_buffers.empty() && options.debug_buffers.size() != 2) {
      throw CLI::ValidationError("--debug_buffer", "needs two files, old,new");
    }
    for (const auto& [name, given] :
         {std::pair("--etrecord", &options.etrecords), std::pair("--program", &options.programs)}) {
      if (given->size() <= (compare ? 2u : 1u)) continue;
      throw CLI::ValidationError(name, compare ? "expected one or two files" : "expected one file");
    }
  };
  if (!parse_command_line(app, argc, argv, check, exit_code)) return std::nullopt;
  options.has_format = app.count("--format") > 0 || options.report.format != ReportFormat::kTable;
  if (ops) options.task = Task::kOperators;
  if (!graph.empty()) {
    options.task = graph == "dot"              ? Task::kGraphDot
                   : graph == "model_explorer" ? Task::kGraphModelExplorer
                                               : Task::kGraphText;
  }
  if (explain) options.task = Task::kExplain;
  if (verify) options.task = Task::kVerify;
  if (compare) options.task = Task::kCompare;
  return options;
}

}  // namespace vitrine::tools
