#include "vitrine/module.h"

#include <atomic>
#include <cstdio>

#include "api/backend_options.h"
#include "api/builtin.h"
#include "api/data_files.h"
#include "api/module_input.h"
#include "api/value_names.h"
#include "runtime/core/checked_vector.h"
#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

Error no_memory() {
  return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a module");
}

EValue evalue_of(const Value& value) {
  if (value.integer() != nullptr) return EValue(*value.integer());
  if (value.real() != nullptr) return EValue(*value.real());
  if (value.boolean() != nullptr) return EValue(*value.boolean());
  if (value.string() != nullptr) return EValue(std::string_view(*value.string()));
  return EValue();
}

// Returns the name of a known file format and a hint on how to use such a file. Returns null for
// other formats.
const char* other_format(const DataSource& source) {
  struct Format {
    size_t at;
    std::string_view magic;
    const char* what;
  };
  static constexpr Format kFormats[] = {
      {0, "PK\x03\x04", "an archive, perhaps an exported program (.pt2); lower it with pte_lower"},
      {4, "BP08", "a bundled program (.bpte); run it with executor_runner"},
      {4, "FT01", "a data file (.ptd); load its program and pass this file in data_files"},
      {4, "ED00", "an ETDump, the trace of a run; read it with pte_inspect"},
  };
  constexpr size_t kHeadBytes = 8;
  const Result<DataBuffer> head = source.read(0, kHeadBytes);
  if (!head.ok()) return nullptr;
  const std::string_view text(reinterpret_cast<const char*>(head->data()), kHeadBytes);
  for (const Format& format : kFormats) {
    if (text.substr(format.at).starts_with(format.magic)) return format.what;
  }
  return nullptr;
}

// Writes sizes as "[16,12]".
void write_sizes(std::span<const int32_t> sizes, char* text, size_t size) {
  size_t length = 0;
  for (size_t i = 0; i < sizes.size() && length < size; ++i) {
    const int written =
        std::snprintf(text + length, size - length, "%c%d", i == 0 ? '[' : ',', sizes[i]);
    length += written > 0 ? static_cast<size_t>(written) : 0;
  }
  if (length < size) std::snprintf(text + length, size - length, sizes.empty() ? "[]" : "]");
}

// Writes the expected value or a tensor's largest sizes, for an error message. Writes an empty text
// for static sizes, because the error of set_input() contains these sizes. Precondition: the caller
// passed a value of the input's type.
void write_expected(const Method& method, size_t index, char* text, size_t size) {
  const EValue& planned = method.input(index);
  text[0] = '\0';
  switch (planned.tag()) {
    case EValue::Tag::kInt:
      std::snprintf(text, size, "it must be %lld", static_cast<long long>(planned.unchecked_int()));
      break;
    case EValue::Tag::kDouble:
      std::snprintf(text, size, "it must be %.17g", planned.unchecked_double());
      break;
    case EValue::Tag::kBool:
      std::snprintf(text, size, "it must be %s", planned.unchecked_bool() ? "true" : "false");
      break;
    case EValue::Tag::kString:
      std::snprintf(text, size, "it must be \"%.*s\"",
                    static_cast<int>(std::min<size_t>(planned.unchecked_string().size(), 100)),
                    planned.unchecked_string().data());
      break;
    case EValue::Tag::kTensor: {
      const TensorInfo info = method.meta().input_tensor(index);
      if (info.dynamism == ShapeDynamism::kStatic) break;
      char sizes[200];
      write_sizes(info.sizes, sizes, sizeof sizes);
      std::snprintf(text, size, "the program accepts at most %s", sizes);
      break;
    }
    default:
      break;
  }
}

// Appends the expected value or sizes to an error of set_input().
Error with_expected(Error error, const Method& method, size_t index) {
  if (error.code() != ErrorCode::kInvalidArgument) return error;
  char expected[256];
  write_expected(method, index, expected, sizeof expected);
  if (expected[0] == '\0') return error;
  return Error::make(error.code(), "%s; %s", error.message(), expected);
}

}  // namespace

struct [[gnu::visibility("hidden")]] Module::State {
  struct Loaded {
    std::unique_ptr<Method> method;
    // Copies of inputs in the program's layout. Each copy is made at its first use.
    CheckedVector<Array> staged;
    uint64_t max_output_bytes = 0;

    Error set_input(size_t index, const Input& input);
    Error set_array(size_t index, const Array& array);
    Error check_outputs() const;
  };

  // The names of a method's values are read at their first use.
  struct Names {
    std::optional<ValueNames> inputs;
    std::optional<ValueNames> outputs;
  };

  bool optimized_kernels = true;
  bool accept_unwritten_outputs = false;
  MethodLimits limits;
  EventTracer* tracer = nullptr;
  BackendOptions backend_options;
  DataFiles data;
  std::unique_ptr<ThreadPool> pool;
  std::shared_ptr<const Program> program;
  std::unique_ptr<SharedState> shared_state;  // null if the methods do not share state
  CheckedVector<Loaded> methods;              // by the program's method index; null until loaded
  CheckedVector<Names> names;                 // by the program's method index
  std::atomic<bool> is_canceled = false;

  size_t index_of(const MethodMeta& meta) const;
  Result<Loaded*> find(std::string_view name);
  Error load(size_t index);
  Result<std::string_view> name_of(std::string_view method, std::optional<ValueNames> Names::*side,
                                   Result<ValueNames>(*read)(const MethodMeta&), size_t index);
};

size_t Module::State::index_of(const MethodMeta& meta) const {
  size_t index = 0;
  while (program->method_name(index) != meta.name()) ++index;
  return index;
}

Result<Module::State::Loaded*> Module::State::find(std::string_view name) {
  VITRINE_ASSIGN_OR_RETURN(const MethodMeta meta, program->method_meta(name));
  const size_t index = index_of(meta);
  if (tracer != nullptr) tracer->begin_method(meta.name());
  if (methods[index].method == nullptr) VITRINE_RETURN_IF_ERROR(load(index));
  return &methods[index];
}

Error Module::State::load(size_t index) {
  if (!shared_state) {
    VITRINE_ASSIGN_OR_RETURN(shared_state,
                             SharedState::create(program, {}, limits.max_memory_bytes));
  }
  MethodOptions method_options;
  method_options.kernels = &builtin_kernels(optimized_kernels);
  method_options.accept_unwritten_outputs = accept_unwritten_outputs;
  method_options.backends = &builtin_backends();
  method_options.external_data = data.all();
  method_options.pool = pool.get();
  method_options.backend_options = backend_options.all();
  method_options.tracer = tracer;
  method_options.shared_state = shared_state.get();
  method_options.limits = limits;
  method_options.check_plan = &refuse_overlaps;
  method_options.cancel_flag = &is_canceled;
  VITRINE_ASSIGN_OR_RETURN(auto method,
                           Method::load(program, program->method_name(index), method_options));
  Loaded loaded;
  VITRINE_RETURN_IF_ERROR(loaded.staged.resize(method->num_inputs()));
  VITRINE_RETURN_IF_ERROR(method->allocate_outputs());
  loaded.max_output_bytes = method->memory_usage().budget;
  loaded.method = std::move(method);
  methods[index] = std::move(loaded);
  return Error();
}

Result<std::string_view> Module::State::name_of(std::string_view method,
                                                std::optional<ValueNames> Names::*side,
                                                Result<ValueNames> (*read)(const MethodMeta&),
                                                size_t index) {
  VITRINE_ASSIGN_OR_RETURN(const MethodMeta meta, program->method_meta(method));
  std::optional<ValueNames>& known = names[index_of(meta)].*side;
  if (!known) {
    VITRINE_ASSIGN_OR_RETURN(known, read(meta));
  }
  return known->at(index);
}

Error Module::State::Loaded::set_array(size_t index, const Array& array) {
  if (array.is_empty()) {
    return Error::make(ErrorCode::kInvalidArgument, "input %zu is an empty array", index);
  }
  Array given = array;
  if (method->input(index).is_tensor()) {
    const TensorInfo info = method->meta().input_tensor(index);
    const bool has_layout = info.dim_order.size() != array.sizes().size() ||
                            array.tensor().same_dim_order(method->input(index).unchecked_tensor());
    // The program reads an input without planned memory directly from the array. Borrowed memory is
    // copied, because it may lack readable bytes after the tensor.
    if (!has_layout || (!info.is_memory_planned && !array.owns_memory())) {
      const auto order = has_layout ? array.tensor().dim_order() : info.dim_order;
      Array& copy = staged[index];
      if (copy.is_empty() || !copy.tensor().same_sizes(array.tensor()) ||
          copy.dtype() != array.dtype()) {
        VITRINE_ASSIGN_OR_RETURN(copy, Array::allocate(array.dtype(), array.sizes(), order));
      }
      copy_elements(array.tensor(), copy.mutable_tensor());
      given = copy;
    }
  }
  Error error = method->set_input(index, EValue(&given.mutable_tensor()));
  // Errors about the dtype or rank already say what is expected.
  if (error.ok() || !method->input(index).is_tensor()) return error;
  const Tensor& planned = method->input(index).unchecked_tensor();
  if (array.dtype() != planned.dtype() || array.tensor().rank() != planned.rank()) return error;
  return with_expected(std::move(error), *method, index);
}

Error Module::State::Loaded::set_input(size_t index, const Input& input) {
  if (input.array != nullptr) return set_array(index, *input.array);
  Error error = method->set_input(index, input.value);
  if (error.ok() || input.value.tag() != method->input(index).tag()) return error;
  return with_expected(std::move(error), *method, index);
}

// Returns an error if the outputs are too large in total. A value that two outputs return counts
// twice, because each output is copied.
Error Module::State::Loaded::check_outputs() const {
  Budget bytes(max_output_bytes);
  for (size_t i = 0; i < method->num_outputs(); ++i) {
    const EValue& output = method->output(i);
    const size_t size = output.is_tensor()   ? output.unchecked_tensor().nbytes()
                        : output.is_string() ? output.unchecked_string().size()
                                             : 0;
    if (bytes.take(size)) continue;
    return Error::make(ErrorCode::kMemoryAllocationFailed,
                       "the outputs need more than the %llu bytes that max_memory_bytes allows",
                       static_cast<unsigned long long>(max_output_bytes));
  }
  return Error();
}

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::~Module() = default;
Module::Module(Module&& other) noexcept = default;
Module& Module::operator=(Module&& other) noexcept = default;

Result<Module> Module::load(Result<std::unique_ptr<DataSource>> source, const char* path,
                            const ModuleOptions& options, std::span<const char* const> data_files,
                            std::span<const BackendOption> backend_options) {
  if (!source.ok()) return source.take_error();
  std::unique_ptr<State> state(new (std::nothrow) State);
  if (state == nullptr) return no_memory();
  state->optimized_kernels = options.optimized_kernels;
  state->accept_unwritten_outputs = options.accept_unwritten_outputs;
  state->limits = options.limits;
  state->tracer = options.tracer;
  VITRINE_ASSIGN_OR_RETURN(state->backend_options, BackendOptions::copy_of(backend_options));
  VITRINE_ASSIGN_OR_RETURN(state->data, DataFiles::load(data_files));
  VITRINE_ASSIGN_OR_RETURN(
      state->pool,
      ThreadPool::create(options.threads, options.fixed_threads ? ThreadPool::Use::kAlways
                                                                : ThreadPool::Use::kAdaptive));
  const char* const other = other_format(**source);
  auto program = Program::load(std::move(*source));
  if (!program.ok()) {
    const Error error = program.take_error();
    return Error::make(error.code(), other == nullptr ? "%s: %s" : "%s: %s; it is %s", path,
                       error.message(), other);
  }
  state->program = std::move(*program);
  VITRINE_RETURN_IF_ERROR(state->methods.resize(state->program->num_methods()));
  VITRINE_RETURN_IF_ERROR(state->names.resize(state->program->num_methods()));
  return Module(std::move(state));
}

Result<Module> Module::load(Result<std::unique_ptr<DataSource>> source, const char* path,
                            const ModuleOptions& options) {
  CheckedVector<const char*> files;
  for (const std::string& file : options.data_files) {
    VITRINE_RETURN_IF_ERROR(files.push_back(file.c_str()));
  }
  return load(std::move(source), path, options, std::span(files.data(), files.size()),
              options.backend_options);
}

Result<Module> Module::load(const char* path, const ModuleOptions& options) {
  return load(map_file(path), path, options);
}

Result<Module> Module::load(std::span<const std::byte> program, const ModuleOptions& options) {
  return load(view_buffer(program), "program in memory", options);
}

Error Module::check() const {
  if (state_ != nullptr) return Error();
  return Error::make(ErrorCode::kInvalidState, "the module was moved from");
}

size_t Module::num_methods() const {
  return state_ == nullptr ? 0 : state_->program->num_methods();
}
std::string_view Module::method_name(size_t index) const {
  return index < num_methods() ? state_->program->method_name(index) : std::string_view();
}
Result<MethodMeta> Module::method_meta(std::string_view name) const {
  VITRINE_RETURN_IF_ERROR(check());
  return state_->program->method_meta(name);
}
Result<std::string_view> Module::input_name(std::string_view method, size_t index) const {
  VITRINE_RETURN_IF_ERROR(check());
  return state_->name_of(method, &State::Names::inputs, ValueNames::of_inputs, index);
}
Result<std::string_view> Module::output_name(std::string_view method, size_t index) const {
  VITRINE_RETURN_IF_ERROR(check());
  return state_->name_of(method, &State::Names::outputs, ValueNames::of_outputs, index);
}
const Program& Module::program() const { return *state_->program; }

Error Module::load_method(std::string_view name) {
  VITRINE_RETURN_IF_ERROR(check());
  return state_->find(name).take_error();
}

void Module::cancel() {
  if (state_ != nullptr) state_->is_canceled.store(true, std::memory_order_relaxed);
}

const Error& Module::warning() const {
  static const Error kNone;
  if (state_ == nullptr) return kNone;
  for (const State::Loaded& loaded : state_->methods) {
    if (loaded.method != nullptr && !loaded.method->warning().ok()) {
      return loaded.method->warning();
    }
  }
  return kNone;
}

MemoryUsage Module::memory_usage() const {
  MemoryUsage usage;
  if (state_ == nullptr) return usage;
  for (const State::Loaded& loaded : state_->methods) {
    if (loaded.method != nullptr) loaded.method->add_memory_usage(usage);
  }
  return usage;
}

Result<const Method*> Module::run(std::string_view name, const void* inputs, size_t count,
                                  ReadInput read_input) {
  VITRINE_RETURN_IF_ERROR(check());
  state_->is_canceled.store(false, std::memory_order_relaxed);
  VITRINE_ASSIGN_OR_RETURN(State::Loaded * loaded, state_->find(name));
  Method& method = *loaded->method;
  const auto length = static_cast<int>(name.size());
  if (count != method.num_inputs()) {
    return Error::make(ErrorCode::kInvalidArgument, "%.*s: the method has %zu inputs, got %zu",
                       length, name.data(), method.num_inputs(), count);
  }
  for (size_t i = 0; i < count; ++i) {
    VITRINE_RETURN_IF_ERROR(loaded->set_input(i, read_input(inputs, i)), "%.*s", length,
                            name.data());
  }
  VITRINE_RETURN_IF_ERROR(method.execute());  // its errors name the method
  VITRINE_RETURN_IF_ERROR(loaded->check_outputs(), "%.*s", length, name.data());
  return static_cast<const Method*>(&method);
}

Result<const Method*> Module::run(std::string_view name, std::span<const Value> inputs) {
  return run(name, inputs.data(), inputs.size(), [](const void* all, size_t index) {
    const Value& value = static_cast<const Value*>(all)[index];
    return Input{value.array(), evalue_of(value)};
  });
}

Error Module::read_output(const Method& method, size_t index, Value* value, Text* text) {
  const EValue& output = method.output(index);
  switch (output.tag()) {
    case EValue::Tag::kNone:
      *value = Value();
      return Error();
    case EValue::Tag::kTensor: {
      Result<Array> array = Array::copy_of(output.unchecked_tensor());
      if (array.ok()) {
        *value = std::move(*array);
        return Error();
      }
      const std::string_view name = method.meta().name();
      return array.take_error().in("%.*s: output %zu", static_cast<int>(name.size()), name.data(),
                                   index);
    }
    case EValue::Tag::kInt:
      *value = output.unchecked_int();
      return Error();
    case EValue::Tag::kDouble:
      *value = output.unchecked_double();
      return Error();
    case EValue::Tag::kBool:
      *value = output.unchecked_bool();
      return Error();
    case EValue::Tag::kString:
      *text = output.unchecked_string();
      return Error();
    default: {
      const std::string_view name = method.meta().name();
      return Error::make(ErrorCode::kNotSupported,
                         "%.*s: output %zu is of kind %s, which only Method supports",
                         static_cast<int>(name.size()), name.data(), index, tag_name(output.tag()));
    }
  }
}

}  // namespace vitrine
