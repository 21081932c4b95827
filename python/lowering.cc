#include "python/lowering.h"

#include <memory>

#include "aot/reports/delegation_info.h"
#include "host/files.h"
#include "tools/pte_lower/backends.h"

namespace vitrine::python {
namespace {

std::variant<int64_t, bool, double> constant(const std::string& name, py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return value.cast<int64_t>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  throw py::type_error("metadata " + name + " is not a number, a bool or a sequence of them");
}

aot::ConstantMethod constant_method(const std::string& name, py::handle value) {
  aot::ConstantMethod method;
  method.name = name;
  method.is_list = py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
  if (!method.is_list) {
    method.values.push_back(constant(name, value));
    return method;
  }
  for (const py::handle item : value) method.values.push_back(constant(name, item));
  return method;
}

}  // namespace

aot::LowerOptions lower_options(const LowerSettings& settings) {
  aot::LowerOptions options;
  for (const std::string& name : settings.backends) {
    options.partitioners.push_back(tools::lowering_backend(name).make_partitioner());
  }
  options.filter = aot::OpFilter(settings.only_ops, settings.exclude_ops);
  for (const std::string& bound : settings.dynamic) {
    options.bounds.push_back(aot::parse_dynamic_bound(bound));
  }
  for (const std::string& schema : settings.operators) {
    options.operators.push_back(aot::parse_operator(schema));
  }
  const auto attention =
      aot::attention_operator(settings.attention.empty() ? "aten" : settings.attention);
  if (!attention) {
    throw py::value_error("attention is \"aten\", \"custom_sdpa\" or \"auto\", not \"" +
                          settings.attention + "\"");
  }
  options.attention = *attention;
  if (!settings.quantize.empty()) options.quantise = aot::parse_quantisation(settings.quantize);
  options.fold_constants = settings.fold_constants;
  options.optimise = settings.optimize;
  options.make_record = settings.record;
  for (const auto& [name, value] : settings.metadata) {
    options.emit.constant_methods.push_back(constant_method(py::str(name), value));
  }
  options.emit.emit_debug_maps = settings.debug_maps;
  options.emit.external_constants = settings.external_constants;
  aot::EmitOptions::MemoryPlanning& memory = options.emit.memory_planning;
  memory.share_mutable_buffers = settings.share_mutable_buffers;
  memory.alloc_graph_input = settings.plan_inputs;
  memory.alloc_graph_output = settings.plan_outputs;
  return options;
}

std::unique_ptr<aot::LoweredModel> lower(const std::map<std::string, std::filesystem::path>& models,
                                         const aot::LowerOptions& options) {
  return std::make_unique<aot::LoweredModel>(aot::lower(aot::import_methods(models), options));
}

void save(const aot::LoweredModel& model, const std::filesystem::path& path) {
  tools::NewFiles files;
  for (const auto& [tag, bytes] : model.emitted.ptd) {
    files.add(path.parent_path() / (tag + ".ptd")).append(bytes);
  }
  files.add(path).append(model.emitted.pte);
  files.commit();
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
