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
// where; nothing throws. One thread at a time uses a Module; several Modules are independent.
// Programs that choose their kernels or memory use Program and Method (vitrine/method.h).
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
  Value(double value) : content_(value) {}
  Value(bool value) : content_(value) {}
  Value(std::string value) : content_(std::move(value)) {}
  Value(const char* value) : content_(std::string(value)) {}
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
  // Keys and strings outlive the Module.
  std::vector<BackendOption> backend_options = {};
  // Attached to every method, for loading and calls. Not owned; outlives the Module. May be null.
  EventTracer* tracer = nullptr;
};

class Module {
 public:
  // Maps the file; it must not be truncated while the Module lives. Methods are loaded at their
  // first call.
  static Result<Module> load(const char* path, ModuleOptions options = {});
  // `program` outlives the Module.
  static Result<Module> load(std::span<const std::byte> program, ModuleOptions options = {});
  ~Module();
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;

  size_t num_methods() const;
  // `index` < num_methods().
  std::string_view method_name(size_t index) const;
  // Inputs and outputs: kinds, dtypes, sizes. InvalidArgument lists the existing methods.
  Result<MethodMeta> method_meta(std::string_view name) const;

  // Loads a method before its first call. OperatorMissing names all missing operators and backends.
  Error load_method(std::string_view name);
  // Arrays are row-major in both directions, whatever the layout in the program is. Outputs own
  // their memory. InvalidArgument says which input does not fit, and how.
  Result<std::vector<Value>> call(std::string_view name, std::span<const Value> inputs);
  Result<std::vector<Value>> call(std::string_view name, std::initializer_list<Value> inputs) {
    return call(name, std::span(inputs.begin(), inputs.size()));
  }
  Result<std::vector<Value>> forward(std::initializer_list<Value> inputs) {
    return call("forward", inputs);
  }

  const Program& program() const;

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  static Result<Module> load(Result<std::unique_ptr<DataSource>> source, const char* path,
                             ModuleOptions options);
  Error set_inputs(Method& method, std::vector<Array>& staged, std::span<const Value> inputs);

  std::unique_ptr<State> state_;
};

}  // namespace vitrine
