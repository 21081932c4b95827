#include "python/lowering.h"

#include <memory>

#include "aot/reports/delegation_info.h"
#include "tools/pte_lower/backends.h"

namespace vitrine::python {

std::unique_ptr<aot::LoweredModel> lower(const std::map<std::string, std::filesystem::path>& models,
                                         const LowerSettings& settings) {
  aot::LowerOptions options;
  for (const std::string& name : settings.backends) {
    options.partitioners.push_back(tools::lowering_backend(name).make_partitioner());
  }
  if (!settings.quantize.empty()) options.quantise = aot::parse_quantisation(settings.quantize);
  options.fold_constants = settings.fold_constants;
  options.optimise = settings.optimize;
  options.make_record = settings.record;
  return std::make_unique<aot::LoweredModel>(aot::lower(aot::import_methods(models), options));
}

py::dict delegation_info(const aot::LoweredModel& model) {
  py::dict by_method;
  for (const auto& [name, program] : model.methods) {
    const delegation::DelegationInfo info = delegation::delegation_info(*program.graph);
    py::list by_op;
    for (const auto& [op, counts] : info.by_op_type) {
      by_op.append(py::make_tuple(op, counts.delegated, counts.non_delegated));
    }
    by_method[py::str(name)] =
        py::make_tuple(info.subgraphs, info.delegated_nodes, info.non_delegated_nodes, by_op,
                       delegation::format_summary(info) + delegation::format_grid(info));
  }
  return by_method;
}

}  // namespace vitrine::python
