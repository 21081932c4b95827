// Module loads a program file and calls its methods with arrays and numbers.
//
//   auto module = Module::load("model.pte");
//   if (!module.ok()) return fail(module.error().message());
//   auto image = Array::copy_of<float>(pixels, {1, 3, 224, 224});
//   auto outputs = module->call("forward", {*image});
//   if (!outputs.ok()) return fail(outputs.error().message());
//   auto logits = outputs->at(0).array()->data<float>();
//
// A Module uses all kernels and backends of this build. To choose kernels or memory, use Program
// and Method (vitrine/method.h). Methods share state if the program was exported with shared
// buffers (vitrine/shared_state.h).
//
// Functions return errors and do not throw, even if memory runs out. However, in a caller that is
// compiled without exceptions, filling a std::string or std::vector ends the process when memory
// runs out.
//
// One thread at a time may use a Module, except for cancel(). Different Modules are independent. A
// Module that was moved from has no methods.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "vitrine/array.h"
#include "vitrine/backend.h"
#include "vitrine/error.h"
#include "vitrine/evalue.h"
#include "vitrine/event_tracer.h"
#include "vitrine/method.h"

namespace vitrine {

// An input or output of a method: an array, a number, a string or None.
class Value {
 public:
  Value() = default;
  // NOLINTBEGIN(google-explicit-constructor): calls read as they would in Python.
  Value(Array value) : content_(std::move(value)) {}
  Value(int64_t value) : content_(value) {}
  Value(int value) : content_(int64_t{value}) {}
  // Accepts other integer types, such as size_t. Values wrap modulo 2^64.
  template <std::integral T>
  Value(T value) : content_(static_cast<int64_t>(value)) {}
  Value(double value) : content_(value) {}
  Value(bool value) : content_(value) {}
  Value(std::string value) : content_(std::move(value)) {}
  // A null pointer becomes None.
  Value(const char* value) {
    if (value != nullptr) content_ = std::string(value);
  }
  // Deleted, because other pointers would otherwise be converted to bool.
  template <class T>
  requires(std::is_pointer_v<T> &&
           !std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, char>) Value(T)
  = delete;
  // NOLINTEND(google-explicit-constructor)

  bool is_none() const { return std::holds_alternative<std::monostate>(content_); }
  // These functions return null if the value is of another kind.
  const Array* array() const { return std::get_if<Array>(&content_); }
  Array* array() { return std::get_if<Array>(&content_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&content_); }
  const double* real() const { return std::get_if<double>(&content_); }
  const bool* boolean() const { return std::get_if<bool>(&content_); }
  const std::string* string() const { return std::get_if<std::string>(&content_); }

 private:
  std::variant<std::monostate, Array, int64_t, double, bool, std::string> content_;
};

struct ModuleOptions {
  size_t threads = 0;  // the calling thread included; 0: one per performance core
  // Divides all work of at least ThreadPool::kMinWorkNs among all threads, even if other processes
  // need the processors (ThreadPool::Use::kAlways). Results do not depend on this option.
  bool fixed_threads = false;
  bool optimized_kernels = true;
  bool accept_unwritten_outputs = false;  // MethodOptions::accept_unwritten_outputs
  // Paths of .ptd files. Each name may occur in only one of the files.
  std::vector<std::string> data_files = {};
  // The options are copied. Loading returns InvalidArgument for an option of a backend that this
  // build lacks, even if the program does not use that backend.
  std::vector<BackendOption> backend_options = {};
  // The limits apply to each method separately.
  MethodLimits limits = {};
  // Traces the loading and the calls of every method. The tracer must outlive the Module. Null
  // means no tracer. A CallProfile sums the times of calls (vitrine/call_profile.h).
  EventTracer* tracer = nullptr;
};

class Module {
 public:
  // Maps the file, which must not be truncated while the Module exists. A method is loaded at its
  // first call.
  static Result<Module> load(const char* path, const ModuleOptions& options = {});
  // `program` must outlive the Module. Returns InvalidArgument if `program` is not 16-byte aligned.
  // Memory from malloc and mmap is aligned.
  static Result<Module> load(std::span<const std::byte> program, const ModuleOptions& options = {});
  ~Module();
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;

  size_t num_methods() const;
  // Empty if `index` is out of range.
  std::string_view method_name(size_t index) const;
  // Kinds, dtypes and sizes of a method's inputs and outputs. For an unknown name, returns
  // InvalidArgument with the existing methods.
  Result<MethodMeta> method_meta(std::string_view name) const;
  // The name of an input or output in the model: a dict key or a keyword argument ("mask"), or a
  // path that begins with such a name ("state.keys[0]"). Empty if the program does not contain the
  // name, as for positional parameters. Names may repeat. The view is valid while the Module
  // exists.
  Result<std::string_view> input_name(std::string_view method, size_t index) const;
  Result<std::string_view> output_name(std::string_view method, size_t index) const;

  // Loads a method before its first call. Returns OperatorMissing if operators are missing, and
  // NotFound if only backends are missing. The message names all missing operators and backends.
  Error load_method(std::string_view name);
  // Calls a method.
  //
  // An input is copied if it has planned memory in the program, if the program expects another dim
  // order, or if the Array borrows its memory. If the program updates an input that was not copied,
  // the Array changes. Outputs are row-major and own their memory. Together, the outputs use at
  // most max_memory_bytes.
  //
  // If the kind, dtype or shape of an input is wrong, the error names the input and the difference.
  // The code is NotSupported if the sizes differ from a static shape, and InvalidArgument
  // otherwise. A kernel or delegate may reject sizes within the bounds of a dynamic shape. The
  // error then names the instruction.
  Result<std::vector<Value>> call(std::string_view name, std::span<const Value> inputs);
  Result<std::vector<Value>> call(std::string_view name, std::initializer_list<Value> inputs) {
    return call(name, std::span(inputs.begin(), inputs.size()));
  }
  Result<std::vector<Value>> forward(std::initializer_list<Value> inputs) {
    return call("forward", inputs);
  }
  Result<std::vector<Value>> forward(std::span<const Value> inputs) {
    return call("forward", inputs);
  }

  // Ends the current call, if any, like Method::cancel(): the call returns Canceled. May be called
  // from any thread and from a signal handler.
  void cancel();

  // The first Method::warning() of the loaded methods, or success. Valid until the next call.
  const Error& warning() const;
  // The sum over all loaded methods.
  MemoryUsage memory_usage() const;

  // Must not be called on a Module that was moved from.
  const Program& program() const;

 private:
  friend class CModule;  // api/c_api.cc
  struct State;
  struct Input;  // api/module_input.h
  using ReadInput = Input (*)(const void* inputs, size_t index);
  using Text = std::optional<std::string_view>;

  explicit Module(std::unique_ptr<State> state);
  static Result<Module> load(Result<std::unique_ptr<DataSource>> source, const char* path,
                             const ModuleOptions& options, std::span<const char* const> data_files,
                             std::span<const BackendOption> backend_options);
  static Result<Module> load(Result<std::unique_ptr<DataSource>> source, const char* path,
                             const ModuleOptions& options);
  Error check() const;
  // Calls a method. The caller reads the outputs from the returned Method.
  Result<const Method*> run(std::string_view name, const void* inputs, size_t count,
                            ReadInput read_input);
  Result<const Method*> run(std::string_view name, std::span<const Value> inputs);
  // Reads an output. Returns a string in `text`, as a view of the method's string, and other kinds
  // in `value`.
  static Error read_output(const Method& method, size_t index, Value* value, Text* text);

  std::unique_ptr<State> state_;
};

namespace internal {

// `fill` fills a string or vector. Returns false if `fill` throws std::bad_alloc.
template <class Fill>
bool has_memory_to(Fill fill) {
#if defined(__cpp_exceptions)
  try {
    fill();
  } catch (const std::bad_alloc&) {
    return false;
  }
#else
  fill();
#endif
  return true;
}

}  // namespace internal

inline Result<std::vector<Value>> Module::call(std::string_view name,
                                               std::span<const Value> inputs) {
  VITRINE_ASSIGN_OR_RETURN(const Method* method, run(name, inputs));
  const size_t count = method->num_outputs();
  std::vector<Value> outputs;
  bool has_memory = internal::has_memory_to([&] { outputs.resize(count); });
  for (size_t i = 0; has_memory && i < count; ++i) {
    Text text;
    VITRINE_RETURN_IF_ERROR(read_output(*method, i, &outputs[i], &text));
    if (!text) continue;
    has_memory = internal::has_memory_to([&] { outputs[i] = std::string(*text); });
  }
  if (!has_memory) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "out of memory for %zu outputs", count);
  }
  return outputs;
}

}  // namespace vitrine
