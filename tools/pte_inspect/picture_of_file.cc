#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "aot/import/native.h"
#include "aot/import/pt2.h"
#include "aot/passes/passes.h"
#include "formats/bundled_program/bundled_program.h"
#include "inspector/report/report_graph.h"
#include "tools/common/program_record.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/description_text.h"
#include "tools/pte_inspect/loading.h"
#include "tools/pte_inspect/page_graph.h"
#include "tools/pte_inspect/payload_json.h"
#include "tools/pte_inspect/picture.h"

namespace vitrine::tools {

namespace {

// Finds the calls that XNNPACK accepts. If the model cannot be converted, adds a warning and
// returns nullopt.
std::optional<DelegationReasons> reasons_of(const aot::ExportedProgram& model,
                                            std::vector<std::string>& warnings) {
  try {
    return delegation_reasons(model.copy());
  } catch (const HostError& error) {
    warnings.push_back(fmt::format("XNNPACK's reasons are unknown: {}", error.what()));
    return std::nullopt;
  }
}

aot::ExportedProgram import_with_sources(const OpenedFile& file) {
  aot::ExportedProgram model = aot::parse_pt2(file.bytes, nullptr, file.name);
  aot::remember_sources(model);
  return model;
}

}  // namespace

inspector::GraphPicture picture_of_file(const OpenedFile& file,
                                        const std::filesystem::path& etrecord,
                                        const inspector::Profile* profile,
                                        const std::filesystem::path& source) {
  inspector::GraphPicture picture;
  std::vector<std::string> warnings;
  const auto draw_program = [&](const OpenedFile& program_file) {
    const std::shared_ptr<const Program> program = load_program(program_file);
    const std::optional<etrecord::EtRecord> record =
        record_for_program(*program, etrecord, warnings);
    const std::vector<ProgramGraph> methods = graphs_of_program(*program);
    std::map<std::string, DelegationReasons> reasons;
    if (!source.empty()) {
      const std::unique_ptr<DataSource> data = check(map_file(source.c_str()));
      const DataBuffer bytes = check(data->read(0, data->size()));
      const OpenedFile model = {source.string(), bytes.bytes()};
      check_kind(model.name, model.bytes, "an exported model (.pt2)", {FileKind::kExportedModel});
      if (auto found = reasons_of(import_with_sources(model), warnings)) {
        reasons.emplace(methods.size() == 1 ? methods.front().name : "forward", *std::move(found));
      }
    }
    picture = picture_of_program(methods, record ? &*record : nullptr, profile, reasons);
    if (!record) {
      warnings.emplace_back(
          "the program contains no record, so source ops and modules are unknown: give one with "
          "--etrecord");
    }
  };
  const FileKind kind = kind_of_file(file.bytes, file.name);
  switch (kind) {
    case FileKind::kProgram:
      draw_program(file);
      break;
    case FileKind::kBundledProgram: {
      const auto bundle = bundled::parse_bundled_program(file.bytes, file.name);
      const AlignedBytes program(bundle.program);
      draw_program({file.name + ": program", program.bytes(), file.data});
      break;
    }
    case FileKind::kXnnpackPayload:
      picture = picture_of_program({graph_of_xnnpack(load_xnnpack_graph(file))}, nullptr);
      break;
    case FileKind::kForeignPayload: {
      Json json;
      describe_foreign_payload(file, json);
      picture = picture_of_program(graphs_of_payload(json["payload"]), nullptr);
      break;
    }
    case FileKind::kExportedModel: {
      const aot::ExportedProgram model = import_with_sources(file);
      const std::optional<DelegationReasons> reasons = reasons_of(model, warnings);
      picture = picture_of_model(model, reasons ? &*reasons : nullptr);
      break;
    }
    case FileKind::kNativeModel:
      picture = picture_of_methods(aot::parse_native(file.bytes, nullptr, file.name));
      break;
    default:
      throw ToolError(
          fmt::format("{}: a graph needs a program, a payload or an exported model, but the "
                      "file is a {}",
                      file.name, kind_name(kind)));
  }
  picture.title = std::filesystem::path(file.name).filename().string();
  picture.facts = {kind_name(kind), bytes_text(file.bytes.size())};
  picture.notes = std::move(warnings);
  return picture;
}

std::string page_graph(const std::filesystem::path& program, const std::filesystem::path& etrecord,
                       const inspector::Profile& profile, const inspector::RowFigures& figures) {
  try {
    const std::unique_ptr<DataSource> source = check(map_file(program.c_str()));
    const DataBuffer bytes = check(source->read(0, source->size()));
    inspector::GraphPicture picture =
        picture_of_file({program.string(), bytes.bytes()}, etrecord, &profile);
    picture.figures = figures;
    picture.has_times = figures.title.empty() || figures.is_change;
    if (figures.is_change) picture.title = "B: " + profile.run.model;
    return inspector::graph_tab_data(picture);
  } catch (const HostError& error) {
    return inspector::graph_tab_data_without_graph(error.what());
  }
}

}  // namespace vitrine::tools
