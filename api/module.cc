#include "vitrine/module.h"

#include "api/builtin.h"
#include "api/data_files.h"
#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

EValue evalue_of(const Value& value) {
  if (value.integer() != nullptr) return EValue(*value.integer());
  if (value.real() != nullptr) return EValue(*value.real());
  if (value.boolean() != nullptr) return EValue(*value.boolean());
  if (value.string() != nullptr) return EValue(std::string_view(*value.string()));
  return EValue();
}

Result<Value> value_of(const EValue& output) {
  switch (output.tag()) {
    case EValue::Tag::kNone:
      return Value();
    case EValue::Tag::kTensor: {
      VITRINE_ASSIGN_OR_RETURN(Array array, Array::copy_of(output.tensor()));
      return Value(std::move(array));
    }
    case EValue::Tag::kInt:
      return Value(output.to_int());
    case EValue::Tag::kDouble:
      return Value(output.to_double());
    case EValue::Tag::kBool:
      return Value(output.to_bool());
    case EValue::Tag::kString:
      return Value(std::string(output.to_string()));
    default:
      return Error::make(ErrorCode::kNotSupported, "it is a %s; use Method for it",
                         tag_name(output.tag()));
  }
}

}  // namespace

struct Module::State {
  struct Loaded {
    std::unique_ptr<Method> method;
    // By input: a copy in the program's layout, made when it is first needed.
    std::vector<Array> staged;
    // Memory of outputs that the program does not plan.
    std::vector<Array> outputs;
  };

  ModuleOptions options;
  DataFiles data;
  std::unique_ptr<ThreadPool> pool;
  std::shared_ptr<const Program> program;
  std::unique_ptr<SharedState> shared_state;  // null also if the methods share nothing
  std::vector<Loaded> methods;                // by the program's index; null until loaded

  Result<Loaded*> find(std::string_view name);
  Error load(size_t index);
};

// The method of that name, loaded.
Result<Module::State::Loaded*> Module::State::find(std::string_view name) {
  VITRINE_ASSIGN_OR_RETURN(const MethodMeta meta, program->method_meta(name));
  size_t index = 0;
  while (program->method_name(index) != meta.name()) ++index;
  if (methods[index].method == nullptr) VITRINE_RETURN_IF_ERROR(load(index));
  return &methods[index];
}

Error Module::State::load(size_t index) {
  if (!shared_state) {
    VITRINE_ASSIGN_OR_RETURN(shared_state, SharedState::create(program));
  }
  MethodOptions how;
  how.kernels = &builtin_kernels(options.optimized_kernels);
  how.backends = &builtin_backends();
  how.external_data = data.all();
  how.pool = pool.get();
  how.backend_options = options.backend_options;
  how.tracer = options.tracer;
  how.shared_state = shared_state.get();
  how.check_plan = refuse_overlaps;
  VITRINE_ASSIGN_OR_RETURN(auto method, Method::load(program, program->method_name(index), how));
  Loaded loaded;
  loaded.staged.resize(method->num_inputs());
  const MethodMeta& meta = method->meta();
  for (size_t i = 0; i < method->num_outputs(); ++i) {
    if (!method->output(i).is_tensor() || meta.output_tensor(i).is_memory_planned) continue;
    const TensorInfo info = meta.output_tensor(i);
    VITRINE_ASSIGN_OR_RETURN(Array memory, Array::zeros(info.dtype, info.sizes));
    VITRINE_RETURN_IF_ERROR(method->set_output_data(i, memory.mutable_bytes()));
    loaded.outputs.push_back(std::move(memory));
  }
  loaded.method = std::move(method);
  methods[index] = std::move(loaded);
  return Error();
}

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::~Module() = default;
Module::Module(Module&& other) noexcept = default;
Module& Module::operator=(Module&& other) noexcept = default;

Result<Module> Module::load(Result<std::unique_ptr<DataSource>> source, const char* path,
                            ModuleOptions options) {
  if (!source.ok()) return source.take_error();
  auto state = std::make_unique<State>();
  VITRINE_ASSIGN_OR_RETURN(state->data, DataFiles::load(options.data_files));
  VITRINE_ASSIGN_OR_RETURN(state->pool, ThreadPool::create(options.threads));
  auto program = Program::load(std::move(*source));
  if (!program.ok()) return program.take_error().in("%s", path);
  state->program = std::move(*program);
  state->options = std::move(options);
  state->methods.resize(state->program->num_methods());
  return Module(std::move(state));
}

Result<Module> Module::load(const char* path, ModuleOptions options) {
  return load(map_file(path), path, std::move(options));
}

Result<Module> Module::load(std::span<const std::byte> program, ModuleOptions options) {
  return load(view_buffer(program), "program in memory", std::move(options));
}

size_t Module::num_methods() const { return state_->program->num_methods(); }
std::string_view Module::method_name(size_t index) const {
  return state_->program->method_name(index);
}
Result<MethodMeta> Module::method_meta(std::string_view name) const {
  return state_->program->method_meta(name);
}
const Program& Module::program() const { return *state_->program; }

Error Module::load_method(std::string_view name) { return state_->find(name).take_error(); }

Error Module::set_inputs(Method& method, std::vector<Array>& staged,
                         std::span<const Value> inputs) {
  if (inputs.size() != method.num_inputs()) {
    return Error::make(ErrorCode::kInvalidArgument, "it takes %zu inputs, not %zu",
                       method.num_inputs(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Array* array = inputs[i].array();
    if (array == nullptr) {
      VITRINE_RETURN_IF_ERROR(method.set_input(i, evalue_of(inputs[i])));
      continue;
    }
    if (array->is_empty()) {
      return Error::make(ErrorCode::kInvalidArgument, "input %zu is an empty array", i);
    }
    Array given = *array;
    if (method.input(i).is_tensor()) {
      const TensorInfo info = method.meta().input_tensor(i);
      const bool has_layout = info.dim_order.size() != array->sizes().size() ||
                              method.input(i).tensor().is_contiguous();
      // Memory that is not planned is read in place: the borrowed may end where its page does.
      if (!has_layout || (!info.is_memory_planned && !array->owns_memory())) {
        const auto order = has_layout ? std::span<const uint8_t>() : info.dim_order;
        if (staged[i].is_empty() || !staged[i].tensor().same_sizes(array->tensor()) ||
            staged[i].dtype() != array->dtype()) {
          VITRINE_ASSIGN_OR_RETURN(staged[i],
                                   Array::allocate(array->dtype(), array->sizes(), order));
        }
        copy_elements(array->tensor(), staged[i].mutable_tensor());
        given = staged[i];
      }
    }
    VITRINE_RETURN_IF_ERROR(method.set_input(i, EValue(&given.mutable_tensor())));
  }
  return Error();
}

Result<std::vector<Value>> Module::call(std::string_view name, std::span<const Value> inputs) {
  VITRINE_ASSIGN_OR_RETURN(State::Loaded * loaded, state_->find(name));
  Method& method = *loaded->method;
  Error error = set_inputs(method, loaded->staged, inputs);
  if (error.ok()) error = method.execute();
  std::vector<Value> outputs;
  for (size_t i = 0; error.ok() && i < method.num_outputs(); ++i) {
    Result<Value> value = value_of(method.output(i));
    if (value.ok()) {
      outputs.push_back(std::move(*value));
    } else {
      error = value.take_error().in("output %zu", i);
    }
  }
  if (!error.ok()) {
    return std::move(error).in("%.*s", static_cast<int>(name.size()), name.data());
  }
  return outputs;
}

}  // namespace vitrine
