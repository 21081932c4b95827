#include "python/program.h"

#include "formats/etdump/etdump_writer.h"
#include "formats/etdump/trace_buffer.h"
#include "host/tool_error.h"
#include "tools/executor_runner/profile_run.h"

namespace vitrine::python {
namespace {

using tools::check;

ModuleOptions module_options(size_t threads, bool optimized_kernels,
                             const std::vector<std::filesystem::path>& data) {
  ModuleOptions options{.threads = threads, .optimized_kernels = optimized_kernels};
  for (const auto& file : data) options.data_files.push_back(file.string());
  return options;
}

py::tuple describe(EValue::Tag tag, const TensorInfo* info) {
  if (info == nullptr) return py::make_tuple(tag_name(tag), py::none(), py::none(), py::none());
  py::tuple shape(info->sizes.size());
  for (size_t i = 0; i < info->sizes.size(); ++i) shape[i] = info->sizes[i];
  return py::make_tuple("array", numpy_dtype(info->dtype), shape,
                        info->dynamism != ShapeDynamism::kStatic);
}

}  // namespace

PythonProgram::PythonProgram(const std::filesystem::path& path, size_t threads,
                             bool optimized_kernels, const std::vector<std::filesystem::path>& data)
    : path_(path),
      data_(data),
      threads_(threads),
      optimized_kernels_(optimized_kernels),
      module_(check(Module::load(path.c_str(), module_options(threads, optimized_kernels, data)))) {
}

MethodMeta PythonProgram::meta(const std::string& method) const {
  return check(module_.method_meta(method));
}

std::vector<std::string> PythonProgram::methods() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < module_.num_methods(); ++i) names.emplace_back(module_.method_name(i));
  return names;
}

py::list PythonProgram::inputs(const std::string& method) const {
  const MethodMeta of = meta(method);
  py::list list;
  for (size_t i = 0; i < of.num_inputs(); ++i) {
    const bool is_array = of.input_tag(i) == EValue::Tag::kTensor;
    const TensorInfo info = is_array ? of.input_tensor(i) : TensorInfo{};
    list.append(describe(of.input_tag(i), is_array ? &info : nullptr));
  }
  return list;
}

py::list PythonProgram::outputs(const std::string& method) const {
  const MethodMeta of = meta(method);
  py::list list;
  for (size_t i = 0; i < of.num_outputs(); ++i) {
    const bool is_array = of.output_tag(i) == EValue::Tag::kTensor;
    const TensorInfo info = is_array ? of.output_tensor(i) : TensorInfo{};
    list.append(describe(of.output_tag(i), is_array ? &info : nullptr));
  }
  return list;
}

py::tuple PythonProgram::call(const std::string& method, const py::args& arguments) {
  const std::vector<Value> inputs = to_values(arguments, meta(method));
  std::vector<Value> outputs;
  {
    const py::gil_scoped_release others_run;
    const std::scoped_lock alone(mutex_);
    outputs = check(module_.call(method, inputs));
  }
  py::tuple results(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) results[i] = to_python(std::move(outputs[i]));
  return results;
}

inspector::Profile PythonProgram::profile(const ProfileSettings& settings,
                                          const py::args& arguments) {
  std::vector<Value> inputs;
  if (!arguments.empty()) inputs = to_values(arguments, meta(settings.method));
  const bundled::TestSet given = to_test_set(inputs);

  const py::gil_scoped_release others_run;
  tools::RunnerOptions options;
  options.model = path_;
  options.method = settings.method;
  options.executions = settings.runs;
  options.warmup = settings.warmup;
  options.etrecord = settings.record;
  tools::Session session({.model = path_,
                          .data = data_,
                          .threads = threads_,
                          .optimized_kernels = optimized_kernels_});
  TraceBuffer trace;
  const std::unique_ptr<Method> loaded = session.load_method(settings.method, &trace);
  tools::InputSet set = inputs.empty() ? tools::make_inputs(session, *loaded, options, trace)
                                       : tools::InputSet(*loaded, given, "profile");
  inspector::RunInfo runs = tools::profiled_runs(session, *loaded, set, trace, options);
  const flatbuffers::DetachedBuffer dump = check(write_etdump(trace));
  return tools::profile_of_trace(std::as_bytes(std::span(dump.data(), dump.size())),
                                 std::move(runs), *session.program(), options);
}

}  // namespace vitrine::python
