// Builds exported programs like those that torch.export makes from a PyTorch model.
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
// Results' dtypes, sizes and strides come from aot/shapes. Every call records its modules and the
// line of this program's source that made it, so that profiles lead back there.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Where a call stands in the program that builds the model.
#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else  // clang 14 cannot compile libstdc++'s
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

// Not thread-safe. AotErrors name the module, the operator and what is wrong.
class ModelBuilder {
 public:
  using Place = SourceLocation;

  // `type_name` is the root module's: "torchvision.models.mobilenetv2.MobileNetV2".
  explicit ModelBuilder(std::string type_name, uint64_t seed = 1);

  // A module for as long as the object lives. Modules end in reverse order.
  class Module {
   public:
    Module(Module&& other) noexcept : builder_(std::exchange(other.builder_, nullptr)) {}
    Module& operator=(Module&&) = delete;
    ~Module() {
      if (builder_ != nullptr) builder_->leave();
    }

   private:
    friend class ModelBuilder;
    explicit Module(ModelBuilder* builder) : builder_(builder) {}
    ModelBuilder* builder_;
  };
  // Opens a module inside the open one: "features" and then "0" make "features.0".
  [[nodiscard]] Module module(std::string_view name, std::string type_name,
                              Place place = Place::current());
  // The full name of something in the open module: "features.0.weight".
  std::string qualified(std::string_view name) const;

  // Inputs, in the order of the calls. Symbolic sizes need bounds.
  Node* input(std::string_view name, ScalarType dtype, std::vector<SymInt> sizes);
  // A size between these bounds, inclusive. "s0" for the first, and so on.
  SymInt dynamic_size(int64_t min, int64_t max);

  // A parameter of the open module. A second call with the name returns the same one.
  Node* parameter(std::string_view name, TensorData data);
  Node* buffer(std::string_view name, TensorData data, bool persistent = true);
  // Seeded, uniform in (-1, 1) / sqrt(elements a row), as PyTorch initialises its layers.
  Node* parameter(std::string_view name, std::vector<int64_t> sizes);
  uint64_t seed() const { return seed_; }

  // Calls any operator that aot/shapes supports, "aten.relu.default". In-place ones as in training
  // IR: "aten.relu_.default".
  Node* call(std::string_view target, ArgumentList args, ArgumentMap kwargs = {},
             Place place = Place::current());
  // Calls an operator that aot/shapes does not support.
  Node* call_as(std::string_view target, ArgumentList args, ArgumentMap kwargs, Value value,
                Place place = Place::current());
  // Selects one of several results.
  Node* item(Node* tuple, size_t index, Place place = Place::current());

  // The builder is empty afterwards. Buffers that calls write to are mutated by the program.
  ExportedProgram finish(const std::vector<Node*>& outputs);

 private:
  struct OpenModule {
    ModuleStackEntry entry;
    std::string trace;  // the stack trace's lines for the call into it
  };

  void leave() { modules_.pop_back(); }
  Node* weight(std::string_view name, InputSpec::Kind kind, TensorData data, bool persistent);
  Node* add_call(Target target, ArgumentList args, ArgumentMap kwargs, Value value, Place place);

  ExportedProgram program_;
  std::vector<OpenModule> modules_;
  uint64_t seed_;
};

}  // namespace vitrine::aot
