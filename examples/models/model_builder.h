// Builds exported programs in the form that torch.export produces from a PyTorch model.
//
//   ModelBuilder build("Net");
//   Node* x = build.input("x", ScalarType::kFloat, {1, 8});
//   {
//     const auto module = build.module("fc", "torch.nn.modules.linear.Linear");
//     Node* weight = build.parameter("weight", {4, 8});
//     x = build.call("aten.linear.default", {x, weight});
//   }
//   ExportedProgram program = build.finish({x});
//
// aot/operators infers the dtypes, sizes and strides of results. Each call is stored with its
// modules and its C++ source line, which profiles can show.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else  // clang 14 cannot compile libstdc++'s std::source_location
class SourceLocation {
 public:
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          const char* function = __builtin_FUNCTION(),
                                          uint32_t line = __builtin_LINE()) {
    SourceLocation made;
    made.file_ = file;
    made.function_ = function;
    made.line_ = line;
    return made;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr const char* function_name() const { return function_; }
  constexpr uint32_t line() const { return line_; }

 private:
  const char* file_ = "";
  const char* function_ = "";
  uint32_t line_ = 0;
};
#endif

// Builds a program call by call. Not thread-safe. For an invalid call of an operator, throws an
// AotError that names the current module and the caller's source line.
class ModelBuilder {
 public:
  // `type_name` is the type of the root module, such as
  // "torchvision.models.mobilenetv2.MobileNetV2".
  explicit ModelBuilder(std::string type_name, uint64_t seed = 1);

  // Keeps a module open until the destructor. The last opened module must be closed first.
  class Module {
   public:
    Module(Module&& other) noexcept : builder_(std::exchange(other.builder_, nullptr)) {}
    Module& operator=(Module&&) = delete;
    ~Module() {
      if (builder_ != nullptr) builder_->close_module();
    }

   private:
    friend class ModelBuilder;
    explicit Module(ModelBuilder* builder) : builder_(builder) {}
    ModelBuilder* builder_;
  };
  // Opens a nested module. "features" and then "0" open "features.0".
  [[nodiscard]] Module module(std::string_view name, std::string type_name,
                              SourceLocation location = SourceLocation::current());
  // Returns the path of the current module and `name`, for example "features.0.weight".
  std::string qualified(std::string_view name) const;

  // Symbolic sizes must come from dynamic_size().
  Node* input(std::string_view name, ScalarType dtype, std::vector<SymInt> sizes);
  // Returns a new symbolic size with these inclusive bounds. The symbols are "s0", "s1" ...
  SymInt dynamic_size(int64_t min, int64_t max);

  // Adds a parameter to the current module, or returns the module's parameter with this name.
  Node* parameter(std::string_view name, TensorData data);
  Node* buffer(std::string_view name, TensorData data, bool persistent = true);
  // Adds a parameter with seeded weights, which are uniform in [-b, b) with b = 1 / sqrt(elements
  // per row), as in PyTorch's layers.
  Node* parameter(std::string_view name, std::vector<int64_t> sizes);
  uint64_t seed() const { return seed_; }

  // Calls an operator that aot/operators supports, for example "aten.relu.default" or its in-place
  // variant "aten.relu_.default".
  Node* call(std::string_view target, ArgumentList args, ArgumentMap kwargs = {},
             SourceLocation location = SourceLocation::current());
  // Calls an operator that aot/operators does not support. `value` describes the call's results.
  Node* call_as(std::string_view target, ArgumentList args, ArgumentMap kwargs, Value value,
                SourceLocation location = SourceLocation::current());
  Node* item(Node* tuple, size_t index, SourceLocation location = SourceLocation::current());

  // Returns a program with these outputs and empties the builder. If a call changes a buffer in
  // place, each run of the program changes that buffer.
  ExportedProgram finish(const std::vector<Node*>& outputs);

 private:
  struct OpenModule {
    ModuleStackEntry entry;
    std::string trace;  // stack trace line of the call of module()
  };

  void close_module() { modules_.pop_back(); }
  Node* weight(std::string_view name, InputSpec::Kind kind, TensorData data, bool persistent);
  Node* add_call(Target target, ArgumentList args, ArgumentMap kwargs, Value value,
                 SourceLocation location);

  ExportedProgram program_;
  std::vector<OpenModule> modules_;
  uint64_t seed_;
};

}  // namespace vitrine::aot
