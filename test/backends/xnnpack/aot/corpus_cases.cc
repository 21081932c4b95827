#include "test/backends/xnnpack/aot/corpus_cases.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aot/import/pt2.h"
#include "aot/passes/pipelines.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "test/support/corpus.h"

namespace vitrine::aot::test {

namespace fs = std::filesystem;
namespace {

std::string partitioner_names(const nlohmann::json& about) {
  const auto found = about.find("partitioner");
  return found == about.end() || !found->is_string() ? "" : found->get<std::string>();
}

}  // namespace

std::vector<XnnpackCase> xnnpack_cases(LoweredBy version) {
  std::vector<XnnpackCase> cases;
  const fs::path root = ::vitrine::test::corpus_dir();
  if (root.empty()) return cases;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& file = entry.path();
    const bool is_older = file.string().find("/compat/") != std::string::npos;
    if (file.extension() != ".pt2" || is_older != (version == LoweredBy::kOlderVersions) ||
        file.stem().string().ends_with("_core_aten")) {
      continue;
    }
    const fs::path folder = file.parent_path();
    const std::string suffix = file.stem().string().substr(5);  // "_a" if the stem is "model_a"
    const fs::path table = folder / ("delegation" + suffix + ".csv");
    if (!fs::exists(table)) continue;
    const auto about = nlohmann::json::parse(std::ifstream(folder / "case.json"));
    const std::string partitioner = partitioner_names(about);
    // A case may have a partitioner for each method. Methods without delegates are skipped.
    const bool is_per_method = partitioner == "per-method";
    if (partitioner.find("Xnnpack") == std::string::npos && !is_per_method) continue;
    const std::string method = suffix.empty() ? "forward" : suffix.substr(1);
    if (is_per_method && about["delegation"][method]["subgraphs"] == 0) continue;
    cases.push_back(
        {folder, method, file, table, folder / ("delegation_summary" + suffix + ".txt")});
  }
  std::ranges::sort(cases, {}, &XnnpackCase::exported);
  return cases;
}

std::vector<std::shared_ptr<const Partitioner>> partitioners_of(const XnnpackCase& xnnpack_case) {
  std::vector<std::shared_ptr<const Partitioner>> partitioners;
  const auto about = nlohmann::json::parse(std::ifstream(xnnpack_case.folder / "case.json"));
  const std::string names = partitioner_names(about);
  if (names.find("XnnpackDynamicallyQuantizedPartitioner") != std::string::npos) {
    partitioners.push_back(std::make_shared<XnnpackPartitioner>(
        XnnpackPartitioner::Options{.precisions = xnnpack::kDynamic, .per_op = true}));
  }
  partitioners.push_back(std::make_shared<XnnpackPartitioner>());
  return partitioners;
}

ExportedProgram edge_program(const XnnpackCase& xnnpack_case,
                             const std::vector<std::shared_ptr<const Partitioner>>& partitioners) {
  ExportedProgram program = import_pt2(xnnpack_case.exported);
  EdgeOptions options;
  for (const auto& partitioner : partitioners) {
    options.ops_to_keep.push_back(partitioner->ops_to_keep(program));
  }
  to_edge(program, options);
  return program;
}

}  // namespace vitrine::aot::test
