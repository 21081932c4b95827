// vitrine._vitrine: the C++ part of the package, which vitrine/__init__.py wraps.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "base/host_error.h"
#include "inspector/report/report_html.h"
#include "inspector/report/report_json.h"
#include "inspector/report/report_table.h"
#include "python/lowering.h"
#include "python/program.h"
#include "runtime/core/printable.h"
#include "tools/common/backends.h"
#include "tools/common/files.h"
#include "tools/pte_inspect/inspect.h"
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

// Makes HostError raise vitrine.Error. Its text may contain names from files, which need not be
// UTF-8.
void define_error(py::module_& module) {
  static py::handle error;
  error = py::exception<HostError>(module, "Error", PyExc_RuntimeError).release();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const HostError& caught) {
      std::string text = caught.what();
      make_printable(text);
      PyErr_SetString(error.ptr(), text.c_str());
    }
  });
}

void define_program(py::module_& module) {
  py::class_<inspector::Profile>(module, "Profile")
      .def("json", &inspector::report_json)
      .def("html",
           [](const inspector::Profile& profile) { return inspector::report_html(profile); })
      .def("table", [](const inspector::Profile& profile, size_t width, bool costs, bool ids) {
        return inspector::report_table(profile, {.width = width, .costs = costs, .ids = ids});
      });
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
      .def(py::init(&program_in_memory))  // must be first, because bytes also convert to a path
      .def(py::init<const std::filesystem::path&, const ProgramSettings&>())
      .def("path", &PythonProgram::path)
      .def("methods", &PythonProgram::methods)
      .def("inputs", &PythonProgram::inputs)
      .def("outputs", &PythonProgram::outputs)
      .def("call", &PythonProgram::call)
      .def("cancel", &PythonProgram::cancel)
      .def("profile", [](PythonProgram& program, const std::string& method,
                         std::optional<size_t> runs, std::optional<size_t> warmup,
                         const std::filesystem::path& record, const py::args& inputs) {
        return program.profile({method, runs, warmup, record}, inputs);
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
  module.def("inspect_json", &inspect_json);
  module.def("load_library", &tools::load_extension);
}

}  // namespace
}  // namespace vitrine::python

PYBIND11_MODULE(_vitrine, module) {
  module.attr("version") = VITRINE_VERSION;
  vitrine::python::define_error(module);
  vitrine::python::define_program(module);
  vitrine::python::define_lowering(module);
}
