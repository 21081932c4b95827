#include "aot/import/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "aot/graph/lint.h"
#include "aot/import/import_error.h"
#include "aot/import/native_graph.h"
#include "base/format_error.h"
#include "formats/native/native_package.h"

namespace vitrine::aot {
namespace {

using delegates::FlatTable;
using native::NativePackage;

constexpr std::string_view kVersion = "1";
constexpr uint64_t kMaxZeroBytes = uint64_t{1} << 32;

enum class InputKind : int8_t { kUserInput = 0, kParameter = 1, kBuffer = 2, kConstant = 3 };
enum class OutputKind : int8_t { kUserOutput = 0, kBufferMutation = 1, kInputMutation = 2 };

// A weight: a placeholder whose data the program stores.
struct Binding {
  std::string_view name;
  std::string_view key;  // key of the data, or name of a zero-filled buffer
  FlatTable meta;
  InputKind kind = InputKind::kBuffer;
  bool is_zero = false;
};

class MethodReader {
 public:
  MethodReader(const FlatTable& table, const NativePackage& package)
      : table_(table),
        package_(package),
        place_(fmt::format("{}: method {}", package.source, table.text(0).substr(0, 80))),
        graph_(table.needed_table(1, "the graph of a method")),
        reader_(graph_, *program_.graph, place_) {}

  ExportedProgram read() {
    const std::vector<Binding> bindings = read_bindings();
    // Adds the weights before the other inputs, as torch.export does.
    for (const InputKind kind : {InputKind::kParameter, InputKind::kBuffer, InputKind::kConstant}) {
      for (const Binding& binding : bindings) {
        if (binding.kind == kind) add_weight(binding);
      }
    }
    for (const std::string_view name : graph_.texts(1)) {
      if (std::ranges::find(bindings, name, &Binding::name) != bindings.end()) continue;
      InputSpec spec;
      spec.name = reader_.add_input(name)->name();
      program_.signature.inputs.push_back(std::move(spec));
    }
    reader_.read();
    read_outputs();
    program_.module_call_graph.push_back({});
    program_.verifiers = {"ATEN"};
    try {
      lint(program_);
    } catch (const AotError& error) {
      fail(error.what());
    }
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw ImportError(fmt::format("{}: {}", place_, what));
  }

  std::vector<Binding> read_bindings() const {
    std::vector<Binding> bindings;
    for (const FlatTable& constant : table_.tables(2)) {
      const auto kind = static_cast<InputKind>(constant.number<int8_t>(3));
      Binding binding{.name = constant.text(0),
                      .key = constant.text(1),
                      .meta = constant.needed_table(2, "the dtype and shape of a constant"),
                      .kind = kind};
      if (kind < InputKind::kParameter || kind > InputKind::kConstant) {
        fail(
            fmt::format("constant {} has the kind {}; expected 1 (parameter), 2 (buffer) or 3 "
                        "(constant)",
                        binding.name, constant.number<int8_t>(3)));
      }
      bindings.push_back(binding);
    }
    const std::vector<FlatTable> values = graph_.tables(3);
    for (const FlatTable& buffer : table_.tables(4)) {
      const std::string_view name = buffer.text(0);
      const auto value =
          std::ranges::find(values, name, [](const FlatTable& each) { return each.text(0); });
      if (value == values.end()) fail(fmt::format("tensor_values lacks the buffer {}", name));
      bindings.push_back({.name = name,
                          .key = buffer.text(1),
                          .meta = value->needed_table(1, "the dtype and shape of a buffer"),
                          .kind = InputKind::kBuffer,
                          .is_zero = true});
    }
    return bindings;
  }

  void add_weight(const Binding& binding) {
    const std::string place = fmt::format("{}: constant {}", place_, binding.name);
    TensorSpec tensor = read_native_meta(binding.meta, place);
    TensorData data = binding.is_zero ? zeros(tensor, place) : stored(binding, tensor, place);
    InputSpec spec;
    spec.kind = binding.kind == InputKind::kParameter ? InputSpec::Kind::kParameter
                : binding.kind == InputKind::kBuffer  ? InputSpec::Kind::kBuffer
                                                      : InputSpec::Kind::kTensorConstant;
    spec.target = binding.key;
    spec.name = reader_.add_input(binding.name, std::move(tensor))->name();
    TensorMap& weights = is_in_state(spec) ? program_.state_dict : program_.constants;
    weights.emplace(spec.target, std::move(data));
    program_.signature.inputs.push_back(std::move(spec));
  }

  static std::vector<int64_t> numbers_of(const std::vector<SymInt>& values) {
    std::vector<int64_t> numbers;
    for (const SymInt& value : values) numbers.push_back(value.value());
    return numbers;
  }

  TensorData stored(const Binding& binding, const TensorSpec& spec,
                    const std::string& place) const {
    const auto found = package_.tensors.find(binding.key);
    if (found == package_.tensors.end()) {
      throw ImportError(fmt::format("{}: the package has no data with the key {}", place,
                                    binding.key.substr(0, 80)));
    }
    const native::StoredTensor& from = found->second;
    const TensorSpec file_spec =
        contiguous_spec(from.dtype, {from.sizes.begin(), from.sizes.end()});
    if (file_spec != spec) {
      throw ImportError(fmt::format("{}: is {} in the graph, but {} in the package", place,
                                    to_text(spec), to_text(file_spec)));
    }
    TensorData data;
    data.dtype = from.dtype;
    data.sizes = from.sizes;
    data.strides = numbers_of(file_spec.strides);
    data.storage = from.bytes;
    data.owner = package_.data.owner;
    return data;
  }

  // Returns zeros for a buffer whose initial data are not in the file.
  static TensorData zeros(const TensorSpec& spec, const std::string& place) {
    uint64_t bytes = element_size(spec.dtype);
    for (const SymInt& size : spec.sizes) {
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size.value()), &bytes)) {
        bytes = kMaxZeroBytes + 1;
      }
    }
    if (bytes > kMaxZeroBytes) {
      throw ImportError(fmt::format("{}: zeros of type {} exceed the maximum of {} bytes", place,
                                    to_text(spec), kMaxZeroBytes));
    }
    return make_tensor_data(spec.dtype, numbers_of(spec.sizes), std::vector<std::byte>(bytes));
  }

  void read_outputs() {
    const std::vector<FlatTable> specs = table_.tables(3);
    const std::vector<std::string_view> names = graph_.texts(2);
    if (specs.size() != names.size()) {
      fail(fmt::format("the graph has {} outputs, but output_specs has {}", names.size(),
                       specs.size()));
    }
    for (size_t i = 0; i < specs.size(); ++i) {
      const std::string_view target = specs[i].text(2);
      OutputSpec spec;
      spec.name = reader_.value_of(names[i])->name();
      switch (static_cast<OutputKind>(specs[i].number<int8_t>(1))) {
        case OutputKind::kUserOutput:
          break;
        case OutputKind::kBufferMutation:
          spec.kind = OutputSpec::Kind::kBufferMutation;
          spec.target = target;
          break;
        case OutputKind::kInputMutation:
          spec.kind = OutputSpec::Kind::kUserInputMutation;
          spec.target = reader_.value_of(target)->name();
          break;
        default:
          fail(fmt::format("output {} has the unknown kind {}", i, specs[i].number<int8_t>(1)));
      }
      program_.signature.outputs.push_back(std::move(spec));
    }
  }

  const FlatTable& table_;
  const NativePackage& package_;
  std::string place_;
  FlatTable graph_;
  ExportedProgram program_;
  NativeGraphReader reader_;
};

NativeMethods read(const NativePackage& package) {
  const delegates::FlatFile file(package.graph.span,
                                 fmt::format("{}: {}", package.source, native::kGraphMember));
  const FlatTable root = file.root();
  if (root.text(0) != kVersion) {
    throw ImportError(
        fmt::format("{}: has version {} of the format, but this build reads version {}",
                    package.source, root.text(0).substr(0, 80), kVersion));
  }
  NativeMethods methods;
  for (const FlatTable& method : root.tables(1)) {
    const std::string name(method.text(0));
    if (name.empty()) throw ImportError(package.source + ": a method has an empty name");
    if (!methods.emplace(name, MethodReader(method, package).read()).second) {
      throw ImportError(fmt::format("{}: two methods have the name {}", package.source, name));
    }
  }
  if (methods.empty()) throw ImportError(package.source + ": the model has no methods");
  return methods;
}

}  // namespace

NativeMethods parse_native(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           const std::string& source) try {
  return read(native::read_native_package({bytes, std::move(owner)}, source));
} catch (const FormatError& error) {
  throw ImportError(error.what());
}

}  // namespace vitrine::aot
