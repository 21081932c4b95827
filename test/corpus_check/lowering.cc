#include "test/corpus_check/lowering.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "aot/pipeline/lower.h"
#include "host/files.h"
#include "tools/pte_lower/backends.h"
#include "vitrine/data_source.h"
#include "vitrine/program.h"

namespace vitrine::corpus {
namespace {

namespace fs = std::filesystem;

// "model.pt2", or "model_decode.pt2" where a case has several methods; "_core_aten" after it.
fs::path exported_file(const fs::path& folder, const std::string& method, ExportedForm form) {
  const std::string suffix = form == ExportedForm::kCoreAten ? "_core_aten.pt2" : ".pt2";
  const fs::path own = folder / ("model_" + method + suffix);
  if (fs::exists(own)) return own;
  const fs::path only = folder / ("model" + suffix);
  return method == "forward" && fs::exists(only) ? only : fs::path();
}

// Whether the case's program was exported so that its methods share their buffers, which have
// planned memory of their own then.
bool shares_state(const fs::path& program) {
  auto source = map_file(program.c_str());
  if (program.empty() || !source.ok()) return false;
  const auto loaded = Program::load(std::move(*source));
  if (!loaded.ok()) return false;
  for (size_t i = 0; i < (*loaded)->num_methods(); ++i) {
    const auto meta = (*loaded)->method_meta((*loaded)->method_name(i));
    if (meta.ok() && meta->num_planned_buffers() > 1) return true;
  }
  return false;
}

// What --optimize promises.
void require_no_larger_plan(const aot::LoweredModel& optimised,
                            const std::map<std::string, fs::path>& files,
                            aot::LowerOptions options) {
  options.optimise = false;
  const aot::LoweredModel stock = aot::lower(aot::import_methods(files), options);
  for (const auto& [method, info] : optimised.emitted.debug_info) {
    const size_t before = stock.emitted.debug_info.find(method)->second.planned_bytes;
    if (info.planned_bytes <= before) continue;
    throw std::runtime_error(
        fmt::format("method {}: {} bytes of planned memory, {} without "
                    "--optimize",
                    method, info.planned_bytes, before));
  }
}

}  // namespace

bool lower_case(Case& which, const fs::path& case_folder, ExportedForm form,
                const std::vector<std::string>& backends, const LoweringFlags& flags,
                const fs::path& folder) {
  std::map<std::string, fs::path> files;
  for (const CaseCall& call : which.calls) {
    const fs::path file = exported_file(case_folder, call.method, form);
    if (file.empty()) return false;
    files[call.method] = file;
  }
  aot::LowerOptions options;
  for (const std::string& name : backends) {
    options.partitioners.push_back(tools::lowering_backend(name).make_partitioner());
  }
  options.fold_constants = flags.fold_constants;
  options.attention = *aot::attention_operator(flags.attention);
  if (!flags.quantise.empty()) options.quantise = aot::parse_quantisation(flags.quantise);
  // Cases with weights outside of their program are lowered in that way.
  options.emit.external_constants = flags.external_constants || !which.data.empty();
  options.emit.memory_planning.share_mutable_buffers = shares_state(which.model);
  options.optimise = flags.optimise;
  const aot::LoweredModel model = aot::lower(aot::import_methods(files), options);
  if (flags.optimise) require_no_larger_plan(model, files, options);
  which.model = folder / "model.pte";
  tools::write_file(which.model, model.emitted.pte);
  which.data.clear();
  for (const auto& [tag, bytes] : model.emitted.ptd) {
    which.data.push_back(folder / (tag + ".ptd"));
    tools::write_file(which.data.back(), bytes);
  }
  return true;
}

}  // namespace vitrine::corpus
