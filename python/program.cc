#include "python/program.h"

#include <algorithm>
#include <string_view>

#include "formats/etdump/etdump_writer.h"
#include "runtime/extension/trace_buffer.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/profile_run.h"

namespace vitrine::python {
namespace {

using tools::check;

DataBuffer copy_of(std::span<const std::byte> bytes) {
  DataBuffer copy = check(DataBuffer::allocate(bytes.size()));
  std::ranges::copy(bytes, copy.owned_data());
  return copy;
}

py::tuple describe(EValue::Tag tag, const TensorInfo* info, std::string_view value_name) {
  const py::object name = value_name.empty() ? py::object(py::none()) : to_text(value_name);
  if (info == nullptr) {
    return py::make_tuple(tag_name(tag), py::none(), py::none(), py::none(), name);
  }
  py::tuple shape(info->sizes.size());
  for (size_t i = 0; i < info->sizes.size(); ++i) shape[i] = info->sizes[i];
  return py::make_tuple("array", numpy_dtype(info->dtype), shape,
                        info->dynamism != ShapeDynamism::kStatic, name);
}

}  // namespace

PythonProgram::PythonProgram(const std::filesystem::path& path, ProgramSettings settings)
    : PythonProgram(std::nullopt, path, std::move(settings)) {}

PythonProgram::PythonProgram(std::span<const std::byte> program, ProgramSettings settings)
    : PythonProgram(copy_of(program), {}, std::move(settings)) {}

PythonProgram::PythonProgram(std::optional<DataBuffer> memory, const std::filesystem::path& path,
                             ProgramSettings settings)
    : path_(path),
      file_(memory ? path : std::filesystem::absolute(path)),
      settings_(std::move(settings)),
      memory_(std::move(memory)),
      module_(load()) {
  for (std::filesystem::path& file : settings_.data) file = std::filesystem::absolute(file);
}

// The returned options refer to strings in `settings_`.
std::vector<BackendOption> PythonProgram::backend_options() const {
  std::vector<BackendOption> options;
  for (const auto& [name, value] : settings_.backend_options) {
    const std::string_view text = name;
    const size_t colon = text.find(':');
    const bool is_default = colon == std::string_view::npos;
    options.push_back({.backend = is_default ? tools::kDefaultBackend : text.substr(0, colon),
                       .key = is_default ? text : text.substr(colon + 1),
                       .value = std::visit([](const auto& of) { return OptionValue(of); }, value)});
  }
  return options;
}

ModuleOptions PythonProgram::module_options() const {
  ModuleOptions options{.threads = settings_.threads,
                        .optimized_kernels = settings_.optimized_kernels,
                        .accept_unwritten_outputs = settings_.accept_unwritten_outputs,
                        .backend_options = backend_options(),
                        .limits = settings_.limits};
  for (const auto& file : settings_.data) options.data_files.push_back(file.string());
  return options;
}

Module PythonProgram::load() const {
  return check(memory_ ? Module::load(memory_->bytes(), module_options())
                       : Module::load(path_.c_str(), module_options()));
}

MethodMeta PythonProgram::meta(const std::string& method) const {
  return check(module_.method_meta(method));
}

py::list PythonProgram::methods() const {
  py::list names;
  for (size_t i = 0; i < module_.num_methods(); ++i) names.append(to_text(module_.method_name(i)));
  return names;
}

py::list PythonProgram::inputs(const std::string& method) const {
  const MethodMeta of = meta(method);
  py::list list;
  for (size_t i = 0; i < of.num_inputs(); ++i) {
    const bool is_array = of.input_tag(i) == EValue::Tag::kTensor;
    const TensorInfo info = is_array ? of.input_tensor(i) : TensorInfo{};
    list.append(describe(of.input_tag(i), is_array ? &info : nullptr,
                         check(module_.input_name(method, i))));
  }
  return list;
}

py::list PythonProgram::outputs(const std::string& method) const {
  const MethodMeta of = meta(method);
  py::list list;
  for (size_t i = 0; i < of.num_outputs(); ++i) {
    const bool is_array = of.output_tag(i) == EValue::Tag::kTensor;
    const TensorInfo info = is_array ? of.output_tensor(i) : TensorInfo{};
    list.append(describe(of.output_tag(i), is_array ? &info : nullptr,
                         check(module_.output_name(method, i))));
  }
  return list;
}

py::tuple PythonProgram::call(const std::string& method, const py::args& arguments) {
  const std::vector<Value> inputs = to_values(arguments, meta(method));
  std::vector<Value> outputs;
  {
    const py::gil_scoped_release released_gil;
    const std::scoped_lock lock(mutex_);
    outputs = check(module_.call(method, inputs));
  }
  py::tuple results(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) results[i] = to_python(std::move(outputs[i]));
  return results;
}

tools::SessionOptions PythonProgram::session_options() const {
  return {.model = memory_ ? "program in memory" : file_,
          .data = settings_.data,
          .threads = settings_.threads,
          .backend_options = backend_options(),
          .optimized_kernels = settings_.optimized_kernels,
          .limits = settings_.limits,
          .accept_unwritten_outputs = settings_.accept_unwritten_outputs,
          .program = memory_ ? memory_->bytes() : std::span<const std::byte>()};
}

tools::RunnerOptions PythonProgram::runner_options(const std::string& method,
                                                   const std::filesystem::path& record) const {
  tools::RunnerOptions options{};
  options.model = memory_ ? "program in memory" : file_;
  options.method = method;
  options.etrecord = record;
  return options;
}

inspector::Profile PythonProgram::profile(const ProfileSettings& settings,
                                          const py::args& arguments) {
  std::vector<Value> inputs;
  if (!arguments.empty()) inputs = to_values(arguments, meta(settings.method));
  const bundled::TestSet given = to_test_set(inputs);

  const py::gil_scoped_release released_gil;
  tools::RunnerOptions options = runner_options(settings.method, settings.record);
  options.executions = settings.runs;
  options.warmup = settings.warmup;
  tools::Session session(session_options());
  TraceBuffer trace;
  const std::unique_ptr<Method> loaded = session.load_method(settings.method, &trace);
  tools::InputSet set = inputs.empty() ? tools::make_inputs(session, *loaded, options, trace)
                                       : tools::InputSet(*loaded, given, "arguments of profile()");
  inspector::RunInfo runs = tools::profiled_runs(session, *loaded, set, trace, options);
  const std::vector<uint8_t> dump = check(write_etdump(trace));
  return tools::profile_of_trace(std::as_bytes(std::span(dump.data(), dump.size())),
                                 std::move(runs), *session.program(), options);
}

std::unique_ptr<RecordedRun> PythonProgram::record_values(const std::string& method,
                                                          const std::filesystem::path& record,
                                                          uint64_t max_bytes,
                                                          const py::args& arguments) {
  std::vector<Value> inputs;
  if (!arguments.empty()) inputs = to_values(arguments, meta(method));
  const bundled::TestSet given = to_test_set(inputs);
  const py::gil_scoped_release released_gil;
  return std::make_unique<RecordedRun>(session_options(), runner_options(method, record), max_bytes,
                                       inputs.empty() ? nullptr : &given);
}

std::unique_ptr<PythonNumerics> PythonProgram::numerics(const NumericsSettings& settings,
                                                        const py::list& samples) {
  std::vector<std::vector<Value>> values;
  for (const py::handle& sample : samples) {
    values.push_back(
        to_values(py::args(py::reinterpret_borrow<py::object>(sample)), meta(settings.method)));
  }
  std::vector<bundled::TestSet> inputs;
  for (const std::vector<Value>& of_sample : values) inputs.push_back(to_test_set(of_sample));
  const py::gil_scoped_release released_gil;
  return std::make_unique<PythonNumerics>(
      session_options(), runner_options(settings.method, settings.record), settings, inputs);
}

tools::VerificationReport PythonProgram::verify(const VerifySettings& settings,
                                                const py::list& expected,
                                                const py::args& arguments) {
  const std::vector<Value> inputs = to_values(arguments, meta(settings.method));
  const std::vector<Value> outputs = to_expected(expected, meta(settings.method));
  bundled::TestSuite suite;
  suite.method = settings.method;
  suite.sets.push_back(to_test_set(inputs));
  suite.sets.back().expected_outputs = to_test_set(outputs).inputs;

  const py::gil_scoped_release released_gil;
  tools::RunnerOptions options = runner_options(settings.method, {});
  options.rtol = settings.rtol;
  options.atol = settings.atol;
  options.min_sqnr = settings.min_sqnr;
  tools::Session session(session_options());
  return tools::verify(session, suite, options);
}

}  // namespace vitrine::python
