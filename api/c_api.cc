#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

#include "api/c_options.h"
#include "api/module_input.h"
#include "runtime/core/checked_vector.h"
#include "vitrine.h"
#include "vitrine/call_profile.h"
#include "vitrine/extension.h"
#include "vitrine/module.h"
#include "vitrine/version.h"

struct vitrine_error {
  vitrine::Error error;
};
struct vitrine_array {
  vitrine::Array array;
};
struct vitrine_module {
  std::unique_ptr<vitrine::CallProfile> profile;  // null unless vitrine_options.profile was set
  vitrine::Module module;
};

namespace vitrine {
namespace {

// The error for a lack of memory is never freed.
vitrine_error kNoMemory{};

vitrine_error* wrap(Error error) {
  if (error.ok()) return nullptr;
  auto* made = new (std::nothrow) vitrine_error{std::move(error)};
  return made == nullptr ? &kNoMemory : made;
}

// Moves the result into a new object, which the caller of the C API must free.
template <class Handle, class T>
vitrine_error* return_object(Result<T> result, Handle** out) {
  if (!result.ok()) return wrap(result.take_error());
  auto* made = new (std::nothrow) Handle{std::move(*result)};
  if (made == nullptr) return &kNoMemory;
  *out = made;
  return nullptr;
}

vitrine_error* refuse_null(const char* what) {
  return wrap(Error::make(ErrorCode::kInvalidArgument, "%s is NULL", what));
}

Result<ScalarType> scalar_type(vitrine_dtype dtype) {
  const auto known = static_cast<ScalarType>(dtype);
  if (static_cast<vitrine_dtype>(known) == dtype) return known;
  return Error::make(ErrorCode::kInvalidArgument, "%d is not a dtype", static_cast<int>(dtype));
}

vitrine_kind kind_of(EValue::Tag tag) {
  switch (tag) {
    case EValue::Tag::kNone:
      return VITRINE_NONE;
    case EValue::Tag::kTensor:
      return VITRINE_ARRAY;
    case EValue::Tag::kString:
      return VITRINE_STRING;
    case EValue::Tag::kDouble:
      return VITRINE_REAL;
    case EValue::Tag::kInt:
      return VITRINE_INTEGER;
    case EValue::Tag::kBool:
      return VITRINE_BOOLEAN;
    default:
      return VITRINE_OTHER;
  }
}

bool has_content(const vitrine_value& value) {
  if (value.kind == VITRINE_ARRAY) return value.as.array != nullptr;
  if (value.kind == VITRINE_STRING) return value.as.string != nullptr;
  return value.kind >= VITRINE_NONE && value.kind < VITRINE_OTHER;
}

// Precondition: has_content(value), and the value is not an array.
EValue evalue_of(const vitrine_value& value) {
  switch (value.kind) {
    case VITRINE_STRING:
      return EValue(std::string_view(value.as.string));
    case VITRINE_REAL:
      return EValue(value.as.real);
    case VITRINE_INTEGER:
      return EValue(value.as.integer);
    case VITRINE_BOOLEAN:
      return EValue(value.as.boolean != 0);
    default:
      return EValue();
  }
}

bool share_memory(std::span<const vitrine_value> inputs, std::span<const vitrine_value> outputs) {
  const std::less<const vitrine_value*> before;
  return !inputs.empty() && !outputs.empty() && before(inputs.data(), &outputs.back() + 1) &&
         before(outputs.data(), &inputs.back() + 1);
}

// Returns a copy of the text, to be freed with free(). Returns null if memory runs out.
char* copy_of(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

Error move_value(Value& value, vitrine_value* out) {
  if (Array* array = value.array()) {
    auto* made = new (std::nothrow) vitrine_array{std::move(*array)};
    if (made == nullptr) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory");
    out->kind = VITRINE_ARRAY;
    out->as.array = made;
  } else if (value.real() != nullptr) {
    out->kind = VITRINE_REAL;
    out->as.real = *value.real();
  } else if (value.integer() != nullptr) {
    out->kind = VITRINE_INTEGER;
    out->as.integer = *value.integer();
  } else if (value.boolean() != nullptr) {
    out->kind = VITRINE_BOOLEAN;
    out->as.boolean = *value.boolean() ? 1 : 0;
  } else {
    out->kind = VITRINE_NONE;
  }
  return Error();
}

}  // namespace

// Loads and calls modules for the C API without std::vector and std::string, because these types
// end the process if memory runs out.
class CModule {
 public:
  static Result<Module> load(Result<std::unique_ptr<DataSource>> source, const char* path,
                             const vitrine_options& options, EventTracer* tracer);
  // Precondition: the inputs have content. On failure, the outputs stay unchanged.
  static Error call(Module& module, const char* method, std::span<const vitrine_value> inputs,
                    std::span<vitrine_value> outputs);

 private:
  static Error read_output(const Method& method, size_t index, vitrine_value* out);
};

Result<Module> CModule::load(Result<std::unique_ptr<DataSource>> source, const char* path,
                             const vitrine_options& options, EventTracer* tracer) {
  VITRINE_ASSIGN_OR_RETURN(const CheckedVector<BackendOption> backends, backend_options(options));
  ModuleOptions module_options;
  module_options.threads = options.threads;
  module_options.optimized_kernels = options.portable_kernels_only == 0;
  module_options.accept_unwritten_outputs = options.accept_unwritten_outputs != 0;
  module_options.limits = {.max_memory_bytes = options.max_memory_bytes,
                           .max_load_steps = options.max_load_steps,
                           .max_instructions_per_run = options.max_instructions_per_run,
                           .max_milliseconds_per_run = options.max_milliseconds_per_run};
  module_options.tracer = tracer;
  return Module::load(std::move(source), path, module_options,
                      std::span(options.data_files, options.num_data_files),
                      std::span(backends.data(), backends.size()));
}

Error CModule::read_output(const Method& method, size_t index, vitrine_value* out) {
  Value value;
  Module::Text text;
  VITRINE_RETURN_IF_ERROR(Module::read_output(method, index, &value, &text));
  if (!text) return move_value(value, out);
  char* copy = copy_of(*text);
  if (copy == nullptr) return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory");
  out->kind = VITRINE_STRING;
  out->as.string = copy;
  return Error();
}

Error CModule::call(Module& module, const char* method, std::span<const vitrine_value> inputs,
                    std::span<vitrine_value> outputs) {
  CheckedVector<vitrine_value> made;
  VITRINE_RETURN_IF_ERROR(made.resize(outputs.size()));
  const auto read_input = [](const void* all, size_t index) {
    const vitrine_value& value = static_cast<const vitrine_value*>(all)[index];
    if (value.kind == VITRINE_ARRAY) return Module::Input{&value.as.array->array, EValue()};
    return Module::Input{nullptr, evalue_of(value)};
  };
  VITRINE_ASSIGN_OR_RETURN(const Method* loaded,
                           module.run(method, inputs.data(), inputs.size(), read_input));
  for (size_t i = 0; i < made.size(); ++i) {
    Error error = read_output(*loaded, i, &made[i]);
    if (error.ok()) continue;
    for (size_t k = 0; k < i; ++k) vitrine_value_clear(&made[k]);
    return error;
  }
  std::copy(made.begin(), made.end(), outputs.begin());
  return Error();
}

namespace {

vitrine_error* load_module(Result<std::unique_ptr<DataSource>> source, const char* path,
                           const vitrine_options* options, vitrine_module** out) {
  Result<vitrine_options> known = known_options(options);
  if (!known.ok()) return wrap(known.take_error());
  std::unique_ptr<CallProfile> profile;
  if (known->profile != 0) {
    profile.reset(new (std::nothrow) CallProfile);
    if (profile == nullptr) return &kNoMemory;
  }
  Result<Module> module = CModule::load(std::move(source), path, *known, profile.get());
  if (!module.ok()) return wrap(module.take_error());
  auto* handle = new (std::nothrow) vitrine_module{std::move(profile), std::move(*module)};
  if (handle == nullptr) return &kNoMemory;
  *out = handle;
  return nullptr;
}

vitrine_error* refuse_unprofiled() {
  return wrap(Error::make(ErrorCode::kInvalidState,
                          "the module has no profile; set vitrine_options.profile when loading"));
}

enum class ValueSide : uint8_t { kInput, kOutput };

vitrine_error* describe(const vitrine_module* module, const char* method, ValueSide side,
                        size_t index, vitrine_info* out) {
  if (module == nullptr || method == nullptr || out == nullptr) {
    return refuse_null("module, method or out");
  }
  Result<MethodMeta> meta = module->module.method_meta(method);
  if (!meta.ok()) return wrap(meta.take_error());
  const bool is_input = side == ValueSide::kInput;
  const size_t count = is_input ? meta->num_inputs() : meta->num_outputs();
  if (index >= count) {
    return wrap(Error::make(ErrorCode::kInvalidArgument,
                            "%s: %s index %zu is out of range; the method has %zu", method,
                            is_input ? "input" : "output", index, count));
  }
  vitrine_info info{};
  info.kind = kind_of(is_input ? meta->input_tag(index) : meta->output_tag(index));
  if (info.kind == VITRINE_ARRAY) {
    const TensorInfo tensor = is_input ? meta->input_tensor(index) : meta->output_tensor(index);
    info.dtype = static_cast<vitrine_dtype>(tensor.dtype);
    info.rank = tensor.sizes.size();
    info.sizes = tensor.sizes.data();
    info.is_dynamic = tensor.dynamism == ShapeDynamism::kDynamicBound ? 1 : 0;
  }
  Result<std::string_view> name = is_input ? module->module.input_name(method, index)
                                           : module->module.output_name(method, index);
  if (!name.ok()) return wrap(name.take_error());
  if (!name->empty()) info.name = name->data();  // zero-terminated
  *out = info;
  return nullptr;
}

}  // namespace
}  // namespace vitrine

using namespace vitrine;  // NOLINT(google-build-using-namespace)

const char* vitrine_version(void) { return VITRINE_VERSION; }
uint32_t vitrine_version_number(void) { return VITRINE_VERSION_NUMBER; }

vitrine_error* vitrine_load_library(const char* path) {
  if (path == nullptr) return refuse_null("path");
  auto loaded = load_library(path);
  return loaded.ok() ? nullptr : wrap(loaded.take_error());
}

uint32_t vitrine_error_code(const vitrine_error* error) {
  if (error == nullptr) return 0;
  if (error == &kNoMemory) return static_cast<uint32_t>(ErrorCode::kMemoryAllocationFailed);
  return static_cast<uint32_t>(error->error.code());
}
const char* vitrine_error_message(const vitrine_error* error) {
  if (error == nullptr) return "";
  return error == &kNoMemory ? "out of memory" : error->error.message();
}
void vitrine_error_free(vitrine_error* error) {
  if (error != &kNoMemory) delete error;
}

vitrine_error* vitrine_array_new(vitrine_dtype dtype, const int32_t* sizes, size_t rank,
                                 vitrine_array** out) {
  if (out == nullptr || (sizes == nullptr && rank != 0)) return refuse_null("sizes or out");
  Result<ScalarType> known = scalar_type(dtype);
  if (!known.ok()) return wrap(known.take_error());
  return return_object(Array::zeros(*known, std::span(sizes, rank)), out);
}

vitrine_error* vitrine_array_borrow(vitrine_dtype dtype, const int32_t* sizes, size_t rank,
                                    void* data, size_t nbytes, vitrine_array** out) {
  if (out == nullptr || (sizes == nullptr && rank != 0) || (data == nullptr && nbytes != 0)) {
    return refuse_null("sizes, data or out");
  }
  Result<ScalarType> known = scalar_type(dtype);
  if (!known.ok()) return wrap(known.take_error());
  return return_object(Array::borrow(*known, std::span(static_cast<std::byte*>(data), nbytes),
                                     std::span(sizes, rank)),
                       out);
}

void vitrine_array_free(vitrine_array* array) { delete array; }
vitrine_dtype vitrine_array_dtype(const vitrine_array* array) {
  return array == nullptr ? VITRINE_U8 : static_cast<vitrine_dtype>(array->array.dtype());
}
size_t vitrine_array_rank(const vitrine_array* array) {
  return array == nullptr ? 0 : array->array.sizes().size();
}
const int32_t* vitrine_array_sizes(const vitrine_array* array) {
  return array == nullptr ? nullptr : array->array.sizes().data();
}
size_t vitrine_array_nbytes(const vitrine_array* array) {
  return array == nullptr ? 0 : array->array.bytes().size();
}
void* vitrine_array_data(const vitrine_array* array) {
  return array == nullptr ? nullptr : const_cast<std::byte*>(array->array.bytes().data());
}

void vitrine_value_clear(vitrine_value* value) {
  if (value == nullptr) return;
  if (value->kind == VITRINE_ARRAY) delete value->as.array;
  if (value->kind == VITRINE_STRING) std::free(value->as.string);
  *value = vitrine_value{};
}

vitrine_error* vitrine_module_load_file(const char* path, const vitrine_options* options,
                                        vitrine_module** out) {
  if (path == nullptr || out == nullptr) return refuse_null("path or out");
  return load_module(map_file(path), path, options, out);
}

vitrine_error* vitrine_module_load_memory(const void* program, size_t nbytes,
                                          const vitrine_options* options, vitrine_module** out) {
  if (program == nullptr || out == nullptr) return refuse_null("program or out");
  return load_module(view_buffer({static_cast<const std::byte*>(program), nbytes}),
                     "program in memory", options, out);
}

void vitrine_module_free(vitrine_module* module) { delete module; }

size_t vitrine_module_num_methods(const vitrine_module* module) {
  return module == nullptr ? 0 : module->module.num_methods();
}

// Strings in a flatbuffer are zero-terminated.
const char* vitrine_module_method_name(const vitrine_module* module, size_t index) {
  return module == nullptr ? nullptr : module->module.method_name(index).data();
}

vitrine_error* vitrine_method_counts(const vitrine_module* module, const char* method,
                                     size_t* num_inputs, size_t* num_outputs) {
  if (module == nullptr || method == nullptr) return refuse_null("module or method");
  Result<MethodMeta> meta = module->module.method_meta(method);
  if (!meta.ok()) return wrap(meta.take_error());
  if (num_inputs != nullptr) *num_inputs = meta->num_inputs();
  if (num_outputs != nullptr) *num_outputs = meta->num_outputs();
  return nullptr;
}

vitrine_error* vitrine_method_input(const vitrine_module* module, const char* method, size_t index,
                                    vitrine_info* out) {
  return describe(module, method, ValueSide::kInput, index, out);
}

vitrine_error* vitrine_method_output(const vitrine_module* module, const char* method, size_t index,
                                     vitrine_info* out) {
  return describe(module, method, ValueSide::kOutput, index, out);
}

vitrine_error* vitrine_module_call(vitrine_module* module, const char* method,
                                   const vitrine_value* inputs, size_t num_inputs,
                                   vitrine_value* outputs, size_t num_outputs) {
  if (module == nullptr || method == nullptr || (inputs == nullptr && num_inputs != 0) ||
      (outputs == nullptr && num_outputs != 0)) {
    return refuse_null("module, method, inputs or outputs");
  }
  Result<MethodMeta> meta = module->module.method_meta(method);
  if (!meta.ok()) return wrap(meta.take_error());
  if (meta->num_outputs() != num_outputs) {
    return wrap(Error::make(ErrorCode::kInvalidArgument, "%s has %zu outputs, got %zu", method,
                            meta->num_outputs(), num_outputs));
  }
  const std::span given(inputs, num_inputs);
  for (size_t i = 0; i < num_inputs; ++i) {
    if (has_content(given[i])) continue;
    return wrap(Error::make(ErrorCode::kInvalidArgument, "%s: input %zu of kind %d has no value",
                            method, i, static_cast<int>(given[i].kind)));
  }
  // Such an output would overwrite the input and leak its array.
  if (share_memory(given, std::span(outputs, num_outputs))) {
    return wrap(Error::make(ErrorCode::kInvalidArgument,
                            "%s: an input and an output are the same vitrine_value", method));
  }
  return wrap(CModule::call(module->module, method, given, std::span(outputs, num_outputs)));
}

void vitrine_module_cancel(vitrine_module* module) {
  if (module != nullptr) module->module.cancel();
}

vitrine_error* vitrine_module_profile_json(const vitrine_module* module, char** out) {
  if (module == nullptr || out == nullptr) return refuse_null("module or out");
  if (module->profile == nullptr) return refuse_unprofiled();
  Result<std::string_view> text = module->profile->json();
  if (!text.ok()) return wrap(text.take_error());
  char* copy = copy_of(*text);
  if (copy == nullptr) return &kNoMemory;
  *out = copy;
  return nullptr;
}

vitrine_error* vitrine_module_profile_reset(vitrine_module* module) {
  if (module == nullptr) return refuse_null("module");
  if (module->profile == nullptr) return refuse_unprofiled();
  module->profile->reset();
  return nullptr;
}

void vitrine_string_free(char* string) { std::free(string); }
