#include "test/corpus_check/lowering.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "aot/import/native.h"
#include "aot/passes/pipelines.h"
#include "aot/pipeline/lower.h"
#include "test/aot/import/native_writer.h"
#include "tools/common/files.h"
#include "tools/pte_lower/backends.h"
#include "vitrine/data_source.h"
#include "vitrine/program.h"

namespace vitrine::corpus {
namespace {

namespace fs = std::filesystem;

// Returns the file of the method's exported model: model_<method>.pt2, or model.pt2 if the case has
// only the method forward. For kCoreAten, the name ends with _core_aten.pt2. The result is empty if
// the file does not exist.
fs::path exported_file(const fs::path& folder, const std::string& method, ExportedForm form) {
  const std::string suffix = form == ExportedForm::kCoreAten ? "_core_aten.pt2" : ".pt2";
  const fs::path own = folder / ("model_" + method + suffix);
  if (fs::exists(own)) return own;
  const fs::path only = folder / ("model" + suffix);
  return method == "forward" && fs::exists(only) ? only : fs::path();
}

// True if the methods of the case's program share their buffers. The shared buffers are then in a
// second block of planned memory.
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

// Throws if a method needs more planned memory with --optimize than without it.
void require_no_larger_plan(const aot::LoweredModel& optimized,
                            const std::map<std::string, fs::path>& files,
                            aot::LowerOptions options) {
  options.optimize = false;
  const aot::LoweredModel stock = aot::lower(aot::import_methods(files), options);
  for (const auto& [method, info] : optimized.emitted.debug_info) {
    const size_t before = stock.emitted.debug_info.find(method)->second.planned_bytes;
    if (info.planned_bytes <= before) continue;
    throw std::runtime_error(fmt::format(
        "method {}: --optimize must not increase planned memory, but it is {} bytes, and {} "
        "without --optimize",
        method, info.planned_bytes, before));
  }
}

// Converts the methods to edge operators, as ExecuTorch does for .ptn files, writes a .ptn file in
// memory, and imports this file.
aot::Methods through_native(aot::Methods methods) {
  aot::EdgeOptions edge;
  edge.skip_dim_order = true;
  edge.preserve_ops = {"aten.linear.default", "aten.addmm.default", "aten.matmul.default",
                       "aten.scaled_dot_product_attention.default"};
  for (auto& [name, method] : methods) aot::to_edge(method, edge);
  const auto bytes = std::make_shared<std::vector<std::byte>>(test::write_native(methods));
  return aot::parse_native(*bytes, bytes, "model.ptn");
}

}  // namespace

bool lower_case(Case& test_case, const fs::path& case_folder, ExportedForm form,
                const std::vector<std::string>& backends, const LoweringFlags& flags,
                const fs::path& folder) {
  std::map<std::string, fs::path> files;
  for (const CaseCall& call : test_case.calls) {
    const fs::path file = exported_file(case_folder, call.method, form);
    if (file.empty()) return false;
    files[call.method] = file;
  }
  aot::LowerOptions options;
  options.partitioners = tools::make_partitioners(backends, flags.backend_options);
  options.fold_constants = flags.fold_constants;
  options.attention = *aot::attention_operator(flags.attention);
  if (!flags.quantize.empty()) options.quantize = aot::parse_quantization(flags.quantize);
  // Cases with external weights are always lowered with external weights.
  options.emit.external_constants = flags.external_constants || !test_case.data.empty();
  options.emit.memory_planning.share_mutable_buffers = shares_state(test_case.model);
  options.optimize = flags.optimize;
  aot::Methods methods = aot::import_methods(files);
  if (flags.native) {
    try {
      methods = through_native(std::move(methods));
    } catch (const test::NotExpressible&) {
      return false;
    }
  }
  const aot::LoweredModel model = aot::lower(std::move(methods), options);
  if (flags.optimize) require_no_larger_plan(model, files, options);
  test_case.model = folder / "model.pte";
  tools::write_file(test_case.model, model.emitted.pte);
  test_case.data.clear();
  for (const auto& [tag, bytes] : model.emitted.ptd) {
    test_case.data.push_back(folder / (tag + ".ptd"));
    tools::write_file(test_case.data.back(), bytes);
  }
  return true;
}

}  // namespace vitrine::corpus
