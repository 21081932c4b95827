// Defines the extension module vitrine._vitrine, which vitrine/__init__.py wraps.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <array>
#include <string_view>

#include "base/host_error.h"
#include "inspector/report/report_json.h"
#include "inspector/report/report_values.h"
#include "python/language_model.h"
#include "python/lowering.h"
#include "python/program.h"
#include "python/recorded_run.h"
#include "runtime/core/printable.h"
#include "tools/common/backends.h"
#include "tools/common/files.h"
#include "tools/common/profile_report.h"
#include "tools/common/stored_profile.h"
#include "tools/common/tool_error.h"
#include "tools/pte_inspect/inspect.h"
#include "tools/pte_lower/lower_in_memory.h"
#include "tools/pte_lower/report.h"
#include "vitrine/version.h"

namespace vitrine::python {
namespace {

py::bytes to_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string inspect_json(const std::filesystem::path& file) {
  tools::InspectOptions options;
  options.files = {file};
  options.json = true;
  return tools::inspect(options).text;
}

std::unique_ptr<PythonProgram> program_in_memory(const py::buffer& program,
                                                 const ProgramSettings& settings) {
  const py::buffer_info memory = program.request();
  const std::span bytes(static_cast<const std::byte*>(memory.ptr),
                        static_cast<size_t>(memory.size * memory.itemsize));
  return std::make_unique<PythonProgram>(bytes, settings);
}

// Translates HostError and the errors of language models to vitrine.Error. Messages may contain
// invalid UTF-8 from files.
void define_error(py::module_& module) {
  static py::handle error;
  error = py::exception<HostError>(module, "Error", PyExc_RuntimeError).release();
  static const auto set_error = [](std::string text) {
    make_printable(text);
    PyErr_SetString(error.ptr(), text.c_str());
  };
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const HostError& caught) {
      set_error(caught.what());
    } catch (const GenerationError& caught) {
      set_error(caught.what());
    } catch (const TokenizerError& caught) {
      set_error(caught.what());
    }
  });
}

// Returns the entry with this name in a table such as report_formats().
template <class Rows>
const auto& find_named(const Rows& rows, const std::string& name, const char* kind) {
  std::string names;
  for (const auto& row : rows) {
    if (row.name == name) return row;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw py::value_error(std::string(kind) + " must be one of " + names + ", got " + name);
}

struct GroupingName {
  std::string_view name;
  inspector::GroupBy by;
};
constexpr std::array<GroupingName, 5> kGroupings = {{{"none", inspector::GroupBy::kNone},
                                                     {"op", inspector::GroupBy::kOp},
                                                     {"delegate", inspector::GroupBy::kDelegate},
                                                     {"module", inspector::GroupBy::kModule},
                                                     {"line", inspector::GroupBy::kLine}}};

std::string profile_report(const inspector::Profile& profile, const std::string& format,
                           const std::string& group_by, const std::string& filter, size_t top,
                           size_t width, bool costs, bool ids) {
  tools::ReportOptions options;
  options.format = find_named(tools::report_formats(), format, "format").format;
  options.width = width;
  options.ids = ids;
  options.costs = costs;
  options.view = {
      .by = find_named(kGroupings, group_by, "group_by").by, .top = top, .filter = filter};
  return tools::make_report(profile, options);
}

struct ProfileComparison {
  ProfileComparison(const inspector::Profile& first, const inspector::Profile& second)
      : a(first), b(second), comparison(inspector::compare_profiles(a, b, false)) {}

  std::string report(const std::string& format, size_t width) const {
    tools::ReportOptions options;
    options.format = find_named(tools::report_formats(), format, "format").format;
    options.width = width;
    return tools::make_report(comparison, a, b, options);
  }

  inspector::Profile a, b;
  inspector::Comparison comparison;
};

struct ValuesComparison {
  ValuesComparison(const RecordedRun& first, const RecordedRun& second, double min_sqnr)
      : a(first.profile()), b(second.profile()), comparison(first.compare(second, min_sqnr)) {}

  std::string json() const { return inspector::report_values_json(comparison, a, b); }
  std::string table(size_t width) const {
    return inspector::report_values(comparison, a, b, {.width = width});
  }

  inspector::Profile a, b;
  inspector::ValueComparison comparison;
};

void define_profile(py::module_& module) {
  py::class_<inspector::Profile>(module, "Profile")
      .def("json", &inspector::report_json)
      .def("report", &profile_report);
  module.def("read_profile", &tools::read_stored_profile);
  py::class_<ProfileComparison>(module, "Comparison")
      .def(py::init<const inspector::Profile&, const inspector::Profile&>())
      .def("report", &ProfileComparison::report);
  py::class_<RecordedRun>(module, "RecordedRun");
  py::class_<ValuesComparison>(module, "ValueComparison")
      .def(py::init<const RecordedRun&, const RecordedRun&, double>())
      .def("json", &ValuesComparison::json)
      .def("table", &ValuesComparison::table)
      .def("has_figures",
           [](const ValuesComparison& values) { return values.comparison.has_figures(); })
      .def("is_below", [](const ValuesComparison& values) { return values.comparison.is_below(); });
  py::class_<NumericsSettings>(module, "NumericsSettings")
      .def(py::init())
      .def_readwrite("method", &NumericsSettings::method)
      .def_readwrite("reference", &NumericsSettings::reference)
      .def_property(
          "reference_bytes",
          [](const NumericsSettings& of) { return py::bytes(of.reference_bytes); },
          [](NumericsSettings& of, const py::bytes& value) { of.reference_bytes = value; })
      .def_readwrite("record", &NumericsSettings::record)
      .def_readwrite("reference_record", &NumericsSettings::reference_record)
      .def_readwrite("samples", &NumericsSettings::samples)
      .def_readwrite("has_one_input", &NumericsSettings::has_one_input)
      .def_readwrite("times", &NumericsSettings::times)
      .def_readwrite("limit", &NumericsSettings::limit)
      .def_readwrite("max_bytes", &NumericsSettings::max_bytes);
  py::class_<PythonNumerics>(module, "Numerics")
      .def("json", &PythonNumerics::json)
      .def("table", &PythonNumerics::table)
      .def("html", &PythonNumerics::html);
  py::class_<tools::VerificationReport>(module, "Verification")
      .def("json", &tools::verification_json)
      .def("table", &tools::verification_table)
      .def("passed", &tools::VerificationReport::passed);
}

void define_language_model(py::module_& module) {
  py::class_<GenerateOptions>(module, "GenerateOptions")
      .def(py::init())
      .def_readwrite("max_new_tokens", &GenerateOptions::max_new_tokens)
      .def_readwrite("ignore_eos", &GenerateOptions::ignore_eos)
      .def_property(
          "temperature", [](const GenerateOptions& of) { return of.sampling.temperature; },
          [](GenerateOptions& of, float value) { of.sampling.temperature = value; })
      .def_property(
          "top_p", [](const GenerateOptions& of) { return of.sampling.top_p; },
          [](GenerateOptions& of, float value) { of.sampling.top_p = value; })
      .def_property(
          "top_k", [](const GenerateOptions& of) { return of.sampling.top_k; },
          [](GenerateOptions& of, size_t value) { of.sampling.top_k = value; })
      .def_property(
          "seed", [](const GenerateOptions& of) { return of.sampling.seed; },
          [](GenerateOptions& of, std::optional<uint64_t> value) { of.sampling.seed = value; })
      .def_property(
          "num_bos", [](const GenerateOptions& of) { return of.encode.num_bos; },
          [](GenerateOptions& of, size_t value) { of.encode.num_bos = value; })
      .def_property(
          "add_template", [](const GenerateOptions& of) { return of.encode.add_template; },
          [](GenerateOptions& of, bool value) { of.encode.add_template = value; });
  py::class_<LanguageModel>(module, "LanguageModel")
      .def(py::init<const std::filesystem::path&, const std::filesystem::path&, size_t,
                    const std::vector<std::filesystem::path>&>())
      // Returns the text, the ids of the prompt, the ids of the answer, the reason for the end, and
      // statistics.
      .def("generate",
           [](LanguageModel& model, const std::variant<std::string, std::vector<TokenId>>& prompt,
              const GenerateOptions& options, const py::object& on_text) {
             const Generation made = model.generate(prompt, options, on_text);
             constexpr std::array kReasons = {"end_token", "length", "stopped"};
             return py::make_tuple(to_text(made.text), made.prompt, made.ids,
                                   kReasons.at(static_cast<size_t>(made.reason)),
                                   made.statistics.json());
           })
      .def("stop", &LanguageModel::stop)
      .def("reset", &LanguageModel::reset)
      .def("position", &LanguageModel::position)
      .def("max_context", &LanguageModel::max_context)
      .def("encode", &LanguageModel::encode)
      .def("decode", [](const LanguageModel& model, const std::vector<TokenId>& ids) {
        return to_text(model.decode(ids));
      });
}

void define_program(py::module_& module) {
  py::class_<MethodLimits>(module, "MethodLimits")
      .def(py::init())
      .def_readwrite("max_memory_bytes", &MethodLimits::max_memory_bytes)
      .def_readwrite("max_load_steps", &MethodLimits::max_load_steps)
      .def_readwrite("max_instructions_per_run", &MethodLimits::max_instructions_per_run)
      .def_readwrite("max_milliseconds_per_run", &MethodLimits::max_milliseconds_per_run);
  py::class_<ProgramSettings>(module, "ProgramSettings")
      .def(py::init())
      .def_readwrite("threads", &ProgramSettings::threads)
      .def_readwrite("optimized_kernels", &ProgramSettings::optimized_kernels)
      .def_readwrite("accept_unwritten_outputs", &ProgramSettings::accept_unwritten_outputs)
      .def_readwrite("data", &ProgramSettings::data)
      .def_readwrite("backend_options", &ProgramSettings::backend_options)
      .def_readwrite("limits", &ProgramSettings::limits);
  py::class_<PythonProgram>(module, "Program")
      .def(py::init(&program_in_memory))  // first, because bytes also convert to a path
      .def(py::init<const std::filesystem::path&, const ProgramSettings&>())
      .def("path", &PythonProgram::path)
      .def("methods", &PythonProgram::methods)
      .def("inputs", &PythonProgram::inputs)
      .def("outputs", &PythonProgram::outputs)
      .def("call", &PythonProgram::call)
      .def("cancel", &PythonProgram::cancel)
      .def("profile",
           [](PythonProgram& program, const std::string& method, std::optional<size_t> runs,
              std::optional<size_t> warmup, const std::filesystem::path& record,
              const py::args& inputs) {
             return program.profile({method, runs, warmup, record}, inputs);
           })
      .def("record_values",
           [](PythonProgram& program, const std::string& method,
              const std::filesystem::path& record, uint64_t max_bytes, const py::args& inputs) {
             return program.record_values(method, record, max_bytes, inputs);
           })
      .def("numerics", &PythonProgram::numerics)
      .def("verify", [](PythonProgram& program, const std::string& method, const py::list& expected,
                        std::optional<double> rtol, std::optional<double> atol,
                        std::optional<double> min_sqnr, const py::args& inputs) {
        return program.verify({method, rtol, atol, min_sqnr}, expected, inputs);
      });
}

void define_lowering(py::module_& module) {
  py::class_<aot::LoweredModel>(module, "Lowered")
      .def("program", [](const aot::LoweredModel& model) { return to_bytes(model.emitted.pte); })
      .def("record", [](const aot::LoweredModel& model) { return to_bytes(model.record); })
      .def("data",
           [](const aot::LoweredModel& model) {
             py::dict files;
             for (const auto& [tag, bytes] : model.emitted.ptd) {
               files[py::str(tag + ".ptd")] = to_bytes(bytes);
             }
             return files;
           })
      .def("save", &save)
      .def("notes", [](const aot::LoweredModel& model) { return model.notes; })
      .def("summary", &tools::summary_text)
      .def("explain",
           [](const aot::LoweredModel& model) { return tools::explain_text(model, false); })
      .def("delegation_info", &delegation_info);
  py::class_<LowerSettings>(module, "LowerSettings")
      .def(py::init())
      .def_readwrite("backends", &LowerSettings::backends)
      .def_readwrite("backend_options", &LowerSettings::backend_options)
      .def_readwrite("only_ops", &LowerSettings::only_ops)
      .def_readwrite("exclude_ops", &LowerSettings::exclude_ops)
      .def_readwrite("dynamic", &LowerSettings::dynamic)
      .def_readwrite("operators", &LowerSettings::operators)
      .def_readwrite("metadata", &LowerSettings::metadata)
      .def_readwrite("attention", &LowerSettings::attention)
      .def_readwrite("quantize", &LowerSettings::quantize)
      .def_readwrite("calibrate", &LowerSettings::calibrate)
      .def_readwrite("keep", &LowerSettings::keep)
      .def_readwrite("fold_constants", &LowerSettings::fold_constants)
      .def_readwrite("optimize", &LowerSettings::optimize)
      .def_readwrite("record", &LowerSettings::record)
      .def_readwrite("debug_maps", &LowerSettings::debug_maps)
      .def_readwrite("external_constants", &LowerSettings::external_constants)
      .def_readwrite("share_mutable_buffers", &LowerSettings::share_mutable_buffers)
      .def_readwrite("plan_inputs", &LowerSettings::plan_inputs)
      .def_readwrite("plan_outputs", &LowerSettings::plan_outputs);
  module.def("lower", [](const std::map<std::string, std::filesystem::path>& models,
                         const LowerSettings& settings) {
    aot::LowerOptions options = lower_options(settings);
    const std::vector<std::string> calibrate = settings.calibrate;
    const py::gil_scoped_release released_gil;
    return lower(models, calibrate, std::move(options));
  });
  py::class_<AutoSettings>(module, "AutoSettings")
      .def(py::init())
      .def_readwrite("at_least", &AutoSettings::at_least)
      .def_readwrite("at_most_bytes", &AutoSettings::at_most_bytes)
      .def_readwrite("at_most_ms", &AutoSettings::at_most_ms)
      .def_readwrite("samples", &AutoSettings::samples)
      .def_readwrite("score", &AutoSettings::score)
      .def_readwrite("device_times", &AutoSettings::device_times);
  module.def("quantize_auto", [](const std::map<std::string, std::filesystem::path>& models,
                                 const LowerSettings& settings, const AutoSettings& bounds) {
    AutoModel made = quantize_auto(models, settings, bounds);
    return py::make_tuple(std::move(made.model), made.json, made.table, made.html);
  });
  module.def("inspect_json", &inspect_json);
  module.def("load_library", &tools::load_extension);
}

}  // namespace
}  // namespace vitrine::python

PYBIND11_MODULE(_vitrine, module) {
  module.attr("version") = VITRINE_VERSION;
  vitrine::tools::set_model_lowering(vitrine::tools::lower_in_memory);
  vitrine::python::define_error(module);
  vitrine::python::define_profile(module);
  vitrine::python::define_language_model(module);
  vitrine::python::define_program(module);
  vitrine::python::define_lowering(module);
}
