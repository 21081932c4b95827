// A program file and its methods, called with arrays and numbers.
//
//   auto module = Module::load("model.pte");
//   if (!module.ok()) return fail(module.error().message());
//   auto image = Array::copy_of<float>(pixels, {1, 3, 224, 224});
//   auto outputs = module->call("forward", {*image});
//   if (!outputs.ok()) return fail(outputs.error().message());
//   auto logits = outputs->at(0).array()->data<float>();
//
// Methods share state if the program was exported so (vitrine/shared_state.h).
//
// A Module runs with all kernels and backends that it was built with. Errors say what is wrong and
// where; nothing throws, also when memory runs out (std::string and std::vector are filled in the
// caller's code: where that is compiled without exceptions, they end the process). One thread at a
// time uses a Module; several Modules are independent. A Module that was moved from has no methods.
// Programs that choose their kernels or memory use Program and Method (vitrine/method.h).
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

// An input or output of a method: an array, a number, a string, or nothing.
class Value {
 public:
  Value() = default;
  // NOLINTBEGIN(google-explicit-constructor): calls read as they would in Python.
  Value(Array value) : content_(std::move(value)) {}
  Value(int64_t value) : content_(value) {}
  Value(int value) : content_(int64_t{value}) {}
  // size_t and the like; modulo 2^64.
  template <std::integral T>
  Value(T value) : content_(static_cast<int64_t>(value)) {}
  Value(double value) : content_(value) {}
  Value(bool value) : content_(value) {}
  Value(std::string value) : content_(std::move(value)) {}
  // Null: nothing.
  Value(const char* value) {
    if (value != nullptr) content_ = std::string(value);
  }
  // Other pointers would become bools.
  template <class T>
  requires(std::is_pointer_v<T> &&
           !std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, char>) Value(T)
  = delete;
  // NOLINTEND(google-explicit-constructor)

  bool is_none() const { return std::holds_alternative<std::monostate>(content_); }
  // Null if the value is of another kind.
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
  size_t threads = 0;  // the caller's included; 0: as many as performing cores
  bool optimized_kernels = true;
  // .ptd files; each name may occur in one of them only.
  std::vector<std::string> data_files = {};
  // They are copied. InvalidArgument for a backend that this build lacks, even if the program does
  // not use it.
  std::vector<BackendOption> backend_options = {};
  // Of each method by itself.
  MethodLimits limits = {};
  // Attached to every method, for loading and calls. Not owned; outlives the Module. May be null.
  // A CallProfile gives rows and sums (vitrine/call_profile.h).
  EventTracer* tracer = nullptr;
};

class Module {
 public:
  // Maps the file; it must not be truncated while the Module lives. Methods are loaded at their
  // first call.
  static Result<Module> load(const char* path, const ModuleOptions& options = {});
  // `program` outlives the Module and is 16-byte aligned, as what malloc and mmap give is;
  // InvalidArgument if not.
  static Result<Module> load(std::span<const std::byte> program, const ModuleOptions& options = {});
  ~Module();
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;

  size_t num_methods() const;
  // Empty if there are not so many.
  std::string_view method_name(size_t index) const;
  // Inputs and outputs: kinds, dtypes, sizes. InvalidArgument lists the existing methods.
  Result<MethodMeta> method_meta(std::string_view name) const;
  // How the model names an input or output: the key of its dict or keyword argument, as in "mask",
  // or the path from there, "state.keys[0]". Empty if the program has no name for it: names of
  // parameters are not in the file. Not always unique. The view lives as long as the Module.
  Result<std::string_view> input_name(std::string_view method, size_t index) const;
  Result<std::string_view> output_name(std::string_view method, size_t index) const;

  // Loads a method before its first call. OperatorMissing names all missing operators and backends,
  // NotFound the backends if they alone are missing.
  Error load_method(std::string_view name);
  // Inputs are copied where the program has another dim order, or if they borrow their memory. An
  // Array that owns its memory may be written if the program updates that input. Outputs are
  // row-major, whatever the layout in the program is, and own their memory: together at most
  // max_memory_bytes. An input that does not fit is InvalidArgument, or NotSupported if it has
  // other sizes than a static shape; both say which input, and how. Inputs of dynamic shapes may
  // also fail inside: sizes that are within the bound, but wrong, are found by the kernel or
  // delegate that cannot work with them.
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

  // The first error among the loaded methods that did not stop loading (Method::warning()); success
  // if there is none. Valid until the next call.
  const Error& warning() const;
  // The sum of the loaded methods'.
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
  // The method after the call, with its outputs.
  Result<const Method*> run(std::string_view name, const void* inputs, size_t count,
                            ReadInput read_input);
  Result<const Method*> run(std::string_view name, std::span<const Value> inputs);
  // An output: a text of the method's, or any other value.
  static Error read_output(const Method& method, size_t index, Value* value, Text* text);

  std::unique_ptr<State> state_;
};

namespace internal {

// Whether there was memory for what `fill` does to standard containers.
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
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for %zu outputs", count);
  }
  return outputs;
}

}  // namespace vitrine
