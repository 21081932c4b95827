#include "python/lowering.h"

#include <cmath>
#include <memory>
#include <span>

#include "aot/lowering/delegation_info.h"
#include "inspector/report/report_precisions_html.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"
#include "tools/pte_lower/auto/options.h"
#include "tools/pte_lower/auto/report.h"
#include "tools/pte_lower/auto/search.h"
#include "tools/pte_lower/backends.h"
#include "tools/pte_lower/calibration_files.h"

namespace vitrine::python {
namespace {

std::variant<int64_t, bool, double> constant(const std::string& name, py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return value.cast<int64_t>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  throw py::type_error("metadata " + name + " must be a number, a bool, or a sequence of these");
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

tools::AutoOptions auto_options(const AutoSettings& bounds) {
  tools::AutoOptions options;
  using Unit = tools::AutoOptions::Unit;
  const bool has_score = bounds.score.has_value();
  const std::tuple<const std::optional<double>&, Unit, tools::Goal::Kind> kBounds[] = {
      {bounds.at_least, has_score ? Unit::kScore : Unit::kDecibels,
       tools::Goal::Kind::kAtLeastQuality},
      {bounds.at_most_bytes, Unit::kBytes, tools::Goal::Kind::kAtMostCost},
      {bounds.at_most_ms, Unit::kMilliseconds, tools::Goal::Kind::kAtMostCost}};
  size_t count = 0;
  for (const auto& [bound, unit, kind] : kBounds) {
    if (!bound) continue;
    ++count;
    options.unit = unit;
    options.goal = {kind, *bound};
  }
  if (count != 1) throw py::value_error("give one bound: at_least, at_most_bytes or at_most_ms");
  const bool is_positive =
      options.goal.kind == tools::Goal::Kind::kAtLeastQuality || options.goal.bound > 0;
  if (!std::isfinite(options.goal.bound) || !is_positive)
    throw py::value_error("the bound must be finite; a size or time must be above 0");
  options.samples = bounds.samples == 0 ? tools::kDefaultSamples : bounds.samples;
  options.device_times = bounds.device_times;
  if (has_score) {
    options.score = [&](std::span<const std::byte> program) {
      const py::gil_scoped_acquire gil;
      const py::object found =
          (*bounds.score)(py::bytes(reinterpret_cast<const char*>(program.data()), program.size()));
      const auto value = found.cast<double>();
      if (!std::isfinite(value)) throw py::value_error("the score must be a finite number");
      return value;
    };
  }
  // Makes Ctrl-C raise KeyboardInterrupt.
  options.is_stopped = [] {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return false;
  };
  return options;
}

}  // namespace

AutoModel quantize_auto(const std::map<std::string, std::filesystem::path>& models,
                        const LowerSettings& settings, const AutoSettings& bounds) {
  const tools::AutoOptions search = auto_options(bounds);
  LowerSettings without_data = settings;
  without_data.calibrate.clear();
  aot::LowerOptions options = lower_options(without_data);
  const std::vector<std::string> calibrate = settings.calibrate;
  const py::gil_scoped_release released_gil;
  aot::Methods methods = aot::import_methods(models);
  if (!methods.empty()) {
    options.calibration = tools::find_calibration_data(calibrate, methods.begin()->second);
  }
  const tools::AutoResult result = tools::search_precisions(methods, options, search);
  if (!result.is_met) {
    throw tools::ToolError("quantize_auto: " + tools::auto_failure(result, search));
  }
  if (!result.quantize.empty()) options.quantize = aot::parse_quantization(result.quantize);
  for (const std::string& rule : result.keep) aot::add_rule(rule, options.quantize);
  AutoModel made;
  made.json = tools::auto_json(result, search)
                  .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  made.table = tools::auto_tables(result);
  made.html = inspector::report_precisions_html(made.json);
  made.model = std::make_unique<aot::LoweredModel>(aot::lower(std::move(methods), options));
  return made;
}

aot::LowerOptions lower_options(const LowerSettings& settings) {
  aot::LowerOptions options;
  options.partitioners = tools::make_partitioners(settings.backends, settings.backend_options);
  options.filter = aot::OpFilter(settings.only_ops, settings.exclude_ops);
  for (const std::string& bound : settings.dynamic) {
    const bool has_min = bound.find(':') != std::string::npos;
    options.bounds.push_back(has_min ? aot::parse_dynamic_bound(bound)
                                     : aot::parse_max_size(bound));
  }
  for (const std::string& schema : settings.operators) {
    options.operators.push_back(aot::parse_operator(schema));
  }
  const auto attention =
      aot::attention_operator(settings.attention.empty() ? "aten" : settings.attention);
  if (!attention) {
    throw py::value_error("attention must be \"aten\", \"custom_sdpa\" or \"auto\", got \"" +
                          settings.attention + "\"");
  }
  options.attention = *attention;
  if (!settings.quantize.empty()) options.quantize = aot::parse_quantization(settings.quantize);
  for (const std::string& rule : settings.keep) aot::add_rule(rule, options.quantize);
  if (!settings.calibrate.empty() && !options.quantize.int8 && settings.quantize != "float") {
    throw py::value_error("calibrate needs quantize=\"int8\"");
  }
  options.fold_constants = settings.fold_constants;
  options.optimize = settings.optimize;
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
                                         const std::vector<std::string>& calibrate,
                                         aot::LowerOptions options) {
  aot::Methods methods = aot::import_methods(models);
  if (!calibrate.empty() && !methods.empty()) {
    options.calibration = tools::find_calibration_data(calibrate, methods.begin()->second);
  }
  return std::make_unique<aot::LoweredModel>(aot::lower(std::move(methods), options));
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
