#include "tools/pte_inspect/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <tuple>
#include <utility>

#include "base/text/text_layout.h"
#include "formats/bundled_program/bundled_program.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/compare/comparison.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/picture_changes.h"
#include "inspector/report/read_profile.h"
#include "inspector/report/report_graph.h"
#include "inspector/report/report_model_explorer.h"
#include "inspector/report/report_values.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/file_kind.h"
#include "tools/common/messages.h"
#include "tools/common/program_delegates.h"
#include "tools/common/program_record.h"
#include "tools/common/provenance.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/description_text.h"
#include "tools/pte_inspect/explanation.h"
#include "tools/pte_inspect/loading.h"
#include "tools/pte_inspect/page_graph.h"
#include "tools/pte_inspect/picture.h"
#include "tools/pte_inspect/program_graph.h"
#include "tools/pte_inspect/verification.h"

namespace vitrine::tools {
namespace {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) : name_(path.string()) {
    source_ = check(map_file(path.c_str()));
    bytes_ = check(source_->read(0, source_->size()));
  }
  OpenedFile opened() const { return {name_, bytes_.bytes()}; }

 private:
  std::string name_;
  std::unique_ptr<DataSource> source_;
  DataBuffer bytes_;
};

// The external weights in the files of --data_path.
class ExternalData {
 public:
  explicit ExternalData(const std::vector<std::filesystem::path>& paths) {
    for (const std::filesystem::path& path : paths) {
      files_.emplace_back(path);
      maps_.push_back(load_named_data(files_.back().opened()));
      const NamedDataMap* map = maps_.back().get();
      if (all_ != nullptr) {
        maps_.push_back(std::make_unique<MergedNamedData>(all_, map));
        map = maps_.back().get();
      }
      all_ = map;
    }
  }
  const NamedDataMap* all() const { return all_; }  // null without files

 private:
  std::vector<MappedFile> files_;
  std::vector<std::unique_ptr<NamedDataMap>> maps_;
  const NamedDataMap* all_ = nullptr;
};

// Reads an ETRecord file, or the record that a program contains.
etrecord::EtRecord read_record(const std::filesystem::path& path) {
  const MappedFile file(path);
  const OpenedFile opened = file.opened();
  if (kind_of_file(opened.bytes, opened.name) != FileKind::kProgram) {
    return etrecord::parse_etrecord(opened.bytes, opened.name);
  }
  std::optional<etrecord::EtRecord> record = embedded_record(*load_program(opened));
  if (!record) {
    throw ToolError(fmt::format(
        "{}: the program does not contain its ETRecord: give the record's file with --etrecord",
        opened.name));
  }
  return *std::move(record);
}

std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct TracedRun {
  etdump::EtDump trace;
  std::optional<etrecord::EtRecord> record;
  inspector::Profile profile;

  const etrecord::MethodRecord* method_record() const {
    if (!record) return nullptr;
    const auto found = record->methods.find(profile.method);
    return found != record->methods.end() ? &found->second : nullptr;
  }
};

// Thrown if a valid trace lacks a complete run.
class NoProfile : public ToolError {
 public:
  using ToolError::ToolError;
};

// Returns the file for the trace with this index. The last file also applies to further traces.
// Empty if `files` is empty.
std::filesystem::path file_of(size_t trace, const std::vector<std::filesystem::path>& files) {
  if (files.empty()) return {};
  return files[std::min(trace, files.size() - 1)];
}

// Adds the program's delegates and embedded record to `run` and `facts`.
void add_program(const std::filesystem::path& path, TracedRun& run,
                 inspector::ProfileOptions& facts) {
  const MappedFile file(path);
  check_kind(file.opened().name, file.opened().bytes, "a program (.pte)", {FileKind::kProgram});
  const std::shared_ptr<const Program> program = load_program(file.opened());
  facts.program = program_delegates(*program, facts.method);
  facts.run.model_digest = model_digest(path);
  if (!run.record) {
    run.record = embedded_record(*program);
    if (run.record) facts.run.record = path.filename().string();
  } else if (const std::string text = contradiction(*program, *run.record); !text.empty()) {
    facts.run.warnings.push_back("the record does not belong to the program: " + text);
  }
}

// Reads a trace or a stored profile with this index on the command line.
TracedRun read_trace(const OpenedFile& file, const std::string& name, size_t index,
                     const InspectOptions& options) {
  const std::filesystem::path etrecord = file_of(index, options.etrecords);
  TracedRun result;
  if (find_file_kind(file.bytes) == FileKind::kProfile) {
    result.profile = inspector::read_profile(
        {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, file.name,
        all_delegate_profiles());
    return result;
  }
  check_kind(file.name, file.bytes, "a trace (ETDump) or a stored profile (.json)",
             {FileKind::kTrace});
  result.trace = etdump::parse_etdump(file.bytes, file.name);
  if (!etrecord.empty()) result.record = read_record(etrecord);
  inspector::ProfileOptions facts;
  facts.delegates = all_delegate_profiles();
  facts.method = options.method;
  facts.run.model = name;
  facts.run.tool = tool_version();
  facts.run.record = etrecord.filename().string();
  if (const std::filesystem::path program = file_of(index, options.programs); !program.empty()) {
    add_program(program, result, facts);
  }
  try {
    result.profile =
        inspector::make_profile(result.trace, result.record ? &*result.record : nullptr, facts);
  } catch (const inspector::InspectorError& error) {
    throw NoProfile(fmt::format("{}: {}", file.name, error.what()));
  }
  return result;
}

// Reads the outputs of ops in both traces. Returns false if a trace has no outputs or lacks its
// data file. With --debug_buffer or --min_sqnr, throws a ToolError instead.
bool read_values(TracedRun& a, TracedRun& b, const InspectOptions& options) {
  TracedRun* sides[] = {&a, &b};
  for (size_t i = 0; i < 2; ++i) {
    std::filesystem::path buffer = options.files[i].string() + ".data";
    if (!options.debug_buffers.empty()) buffer = options.debug_buffers[i];
    const bool has_values =
        std::ranges::any_of(sides[i]->trace.blocks,
                            [](const etdump::Block& block) { return !block.debug_events.empty(); });
    if (!has_values || (options.debug_buffers.empty() && !std::filesystem::exists(buffer))) {
      if (options.debug_buffers.empty() && !options.min_sqnr) return false;
      throw ToolError(fmt::format("{}: {}", options.files[i].string(),
                                  has_values ? "the trace has no debug buffer next to it: give "
                                               "one with --debug_buffer"
                                             : "the trace has no outputs of ops: record it with "
                                               "--debug_outputs"));
    }
    etdump::read_debug_data(sides[i]->trace, buffer);
  }
  return true;
}

Inspection compare_programs(const OpenedFile& a, const OpenedFile& b,
                            const InspectOptions& options) {
  if (options.report.format != ReportFormat::kHtml) {
    throw ToolError(
        "--compare draws two programs side by side only with --format html; to compare their times "
        "or values, use 'executor_runner A.pte --compare B.pte'");
  }
  inspector::GraphPicture pictures[] = {picture_of_file(a, file_of(0, options.etrecords)),
                                        picture_of_file(b, file_of(1, options.etrecords))};
  std::tie(pictures[0].title, pictures[1].title) = short_names(options.files[0], options.files[1]);
  const std::vector<std::string> summary = inspector::mark_changes(pictures[0], pictures[1]);
  return {inspector::report_graph_pair_html(pictures[0], pictures[1], summary)};
}

Inspection compare(const InspectOptions& options) {
  const MappedFile files[] = {MappedFile(options.files[0]), MappedFile(options.files[1])};
  const auto is_program = [](const MappedFile& file) {
    return find_file_kind(file.opened().bytes) == FileKind::kProgram;
  };
  if (is_program(files[0]) && is_program(files[1])) {
    return compare_programs(files[0].opened(), files[1].opened(), options);
  }
  const auto [name_a, name_b] = short_names(options.files[0], options.files[1]);
  TracedRun a = read_trace(files[0].opened(), name_a, 0, options);
  TracedRun b = read_trace(files[1].opened(), name_b, 1, options);
  const inspector::Comparison comparison = inspector::compare_profiles(a.profile, b.profile, false);
  const bool json = options.json || options.report.format == ReportFormat::kJson;
  ReportOptions report = options.report;
  if (json) report.format = ReportFormat::kJson;
  Inspection result;
  if (const std::filesystem::path program = file_of(1, options.programs);
      report.format == ReportFormat::kHtml && !program.empty()) {
    report.graph = page_graph(program, file_of(1, options.etrecords), b.profile,
                              inspector::change_figures(comparison));
  }
  result.text = make_report(comparison, a.profile, b.profile, report);
  if (exceeds(comparison, options.fail_above)) result.exit_code = kExitBeyondLimit;
  // A CSV file or a page holds one comparison: values with --min_sqnr or --debug_buffer, else
  // times.
  const bool has_both = report.format == ReportFormat::kTable || json;
  const bool has_values = has_both || options.min_sqnr || !options.debug_buffers.empty();
  if (!has_values || !read_values(a, b, options)) return result;
  const inspector::ValueComparison values = inspector::compare_values(
      {a.profile, a.trace, a.method_record()}, {b.profile, b.trace, b.method_record()},
      options.min_sqnr.value_or(inspector::kDefaultMinSqnrDb));
  if (json) {
    Json all = Json::parse(result.text);
    all["values"] = Json::parse(inspector::report_values_json(values, a.profile, b.profile));
    result.text = dump(all);
  } else {
    const std::string text = make_report(values, a.profile, b.profile, report);
    result.text = has_both ? result.text + "\n\n" + text : text;
  }
  if (options.min_sqnr && values.is_below()) result.exit_code = kExitBeyondLimit;
  if (!values.has_figures()) {
    print_error(inspector::kNothingCompared);
    result.exit_code = kExitFailed;
  }
  return result;
}

// Adds the profile if the trace has a complete run.
std::string describe_with_profile(const OpenedFile& file, const InspectOptions& options) {
  const std::string name = std::filesystem::path(file.name).filename().string();
  if (options.has_format) {
    const TracedRun traced = read_trace(file, name, 0, options);
    ReportOptions report = options.report;
    if (report.format == ReportFormat::kHtml && !options.programs.empty()) {
      report.graph =
          page_graph(options.programs.front(), file_of(0, options.etrecords), traced.profile);
    }
    return make_report(traced.profile, report);
  }
  const inspector::TableOptions table = table_options(options.report);
  std::string text =
      description_text(describe_file(file), {table.width, table.color, options.all}) + "\n";
  try {
    return text + make_report(read_trace(file, name, 0, options).profile, options.report);
  } catch (const NoProfile& error) {
    return text + "no profile: " + inspector::printable(error.what()) + "\n";
  }
}

// Adds "profile", which is null if the trace lacks a complete run.
void add_profile(const OpenedFile& file, const InspectOptions& options, Json& json) {
  json["profile"] = nullptr;
  const std::string name = std::filesystem::path(file.name).filename().string();
  ReportOptions as_json;
  as_json.format = ReportFormat::kJson;
  try {
    const TracedRun traced = read_trace(file, name, 0, options);
    json["profile"] = Json::parse(make_report(traced.profile, as_json));
  } catch (const NoProfile& error) {
    json["no_profile"] = error.what();
  }
}

// Draws the graph of a program, a payload or an exported model as a page.
std::string draw(const OpenedFile& file, const InspectOptions& options) {
  std::optional<TracedRun> run;
  if (!options.trace.empty()) {
    const MappedFile trace(options.trace);
    InspectOptions with_program = options;
    if (with_program.programs.empty() && find_file_kind(file.bytes) == FileKind::kProgram) {
      with_program.programs = {file.name};
    }
    run = read_trace(trace.opened(), file.name, 0, with_program);
  }
  return inspector::report_graph_html(picture_of_file(
      file, file_of(0, options.etrecords), run ? &run->profile : nullptr, options.source));
}

std::string describe_one(OpenedFile file, const InspectOptions& options) {
  file.prepares_delegates = true;
  const FileKind kind = kind_of_file(file.bytes, file.name);
  if (options.report.format == ReportFormat::kHtml && kind != FileKind::kTrace) {
    return draw(file, options);
  }
  if (kind == FileKind::kTrace && !options.json) {
    return describe_with_profile(file, options);
  }
  if (options.json) {
    Json json = describe_file(file);
    if (kind == FileKind::kTrace) add_profile(file, options, json);
    return dump(json);
  }
  const inspector::TableOptions table = table_options(options.report);
  return description_text(describe_file(file), {table.width, table.color, options.all});
}

std::vector<ProgramGraph> graphs_of(const OpenedFile& file) {
  switch (kind_of_file(file.bytes, file.name)) {
    case FileKind::kProgram:
      return graphs_of_program(*load_program(file));
    case FileKind::kBundledProgram: {
      const auto bundle = bundled::parse_bundled_program(file.bytes, file.name);
      const AlignedBytes program(bundle.program);
      return graphs_of_program(*load_program({file.name + ": program", program.bytes()}));
    }
    case FileKind::kXnnpackPayload:
      return {graph_of_xnnpack(load_xnnpack_graph(file))};
    default:
      throw ToolError(fmt::format(
          "{}: --graph needs a program (.pte, .bpte) or an XNNPACK payload, but the file is a {}",
          file.name, kind_name(kind_of_file(file.bytes, file.name))));
  }
}

Inspection verify(const std::vector<MappedFile>& files, const NamedDataMap* data,
                  const InspectOptions& options) {
  Inspection result;
  Json all = Json::array();
  for (const MappedFile& file : files) {
    const std::string name = file.opened().name;
    result.text += inspector::printable(name) + "\n";
    for (const CheckResult& check : verify_file(file.opened(), data)) {
      const bool ok = check.error.empty();
      all.push_back({{"file", name}, {"check", check.name}, {"ok", ok}, {"error", check.error}});
      result.text +=
          fmt::format("  {}  {}\n", ok ? "ok   " : "wrong", inspector::printable(check.name));
      if (ok) continue;
      result.text += "         " + inspector::printable(check.error) + "\n";
      result.exit_code = kExitFailed;
    }
  }
  if (options.json) result.text = dump(all);
  return result;
}

}  // namespace

Inspection inspect(const InspectOptions& options) {
  if (options.task == Task::kCompare) return compare(options);
  std::vector<MappedFile> files;
  files.reserve(options.files.size());
  for (const std::filesystem::path& path : options.files) files.emplace_back(path);
  const ExternalData data(options.data);
  if (options.task == Task::kVerify) return verify(files, data.all(), options);

  Inspection result;
  std::vector<Json> descriptions;
  std::vector<ProgramGraph> graphs;
  for (const MappedFile& mapped : files) {
    OpenedFile file = mapped.opened();
    file.data = data.all();
    switch (options.task) {
      case Task::kOperators:
        descriptions.push_back(describe_file(file));
        break;
      case Task::kGraphText:
      case Task::kGraphDot:
        for (ProgramGraph& graph : graphs_of(file)) graphs.push_back(std::move(graph));
        break;
      case Task::kGraphModelExplorer:
        result.text =
            inspector::report_model_explorer(picture_of_file(file, file_of(0, options.etrecords)));
        break;
      case Task::kExplain:
        check_kind(file.name, file.bytes, "a program (.pte)", {FileKind::kProgram});
        result.text +=
            explanation_text(*load_program(file), read_record(options.etrecords.empty()
                                                                  ? std::filesystem::path(file.name)
                                                                  : options.etrecords.front()));
        break;
      default:
        if (!result.text.empty() && !options.json) result.text += "\n\n";
        result.text += describe_one(file, options);
    }
  }
  if (options.task == Task::kOperators) result.text = operator_lines(descriptions);
  if (options.task == Task::kGraphDot) result.text = graph_dot(graphs);
  if (options.task == Task::kGraphText) {
    for (const ProgramGraph& graph : graphs) result.text += graph_text(graph);
  }
  return result;
}

}  // namespace vitrine::tools
