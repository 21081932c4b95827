#include "backends/mapping_demo/aot/mapping_demo.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "aot/graph/aot_error.h"
#include "aot/lowering/delegate_mapping_builder.h"
#include "aot/shapes/call.h"
#include "backends/mapping_demo/aot/patterns.h"

namespace vitrine::mapping_demo {
namespace {

using aot::AotError;
using aot::ExportedProgram;
using aot::Node;

using Kind = OperatorKind;

void append(std::vector<std::byte>& bytes, const void* data, size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

// Little-endian, as the hosts that this runs on.
void append_word(std::vector<std::byte>& bytes, uint32_t word) { append(bytes, &word, 4); }

uint32_t word_of(const Node& node, int64_t value) {
  if (value < 0 || value > INT32_MAX) {
    throw AotError(fmt::format("node {}: {} is out of range", node.name(), value));
  }
  return static_cast<uint32_t>(value);
}

class Writer {
 public:
  explicit Writer(const ExportedProgram& program) : program_(program) {}

  aot::PreprocessResult write() {
    for (const Node& node : program_.graph->nodes()) {
      if (node.kind() == Node::Kind::kPlaceholder) add_input(node);
    }
    num_inputs_ = static_cast<uint32_t>(values_.size());
    for (const Node& node : program_.graph->nodes()) {
      if (node.is_call()) add_call(node);
    }
    aot::PreprocessResult result;
    const std::string text = fmt::format("{}#{}", num_operators_, text_);
    append(result.processed_bytes, text.c_str(), text.size() + 1);
    result.processed_bytes.resize((result.processed_bytes.size() + 3) / 4 * 4);
    write_plan(result.processed_bytes);
    result.delegate_map = mapping_.mapping();
    return result;
  }

 private:
  void add_input(const Node& node) {
    const aot::InputSpec* spec = program_.input_of(node.name());
    if (spec != nullptr && aot::has_data(spec->kind)) return;
    if (node.tensor() == nullptr) {
      throw AotError(fmt::format("node {}: inputs must be tensors", node.name()));
    }
    add_value(node, &node);
  }

  uint32_t add_value(const Node& shape, const Node* stands_for) {
    const auto index = static_cast<uint32_t>(values_.size());
    values_.push_back(&shape);
    if (stands_for != nullptr) value_of_[stands_for] = index;
    return index;
  }

  // Returns the result's value.
  uint32_t add_operator(Kind kind, std::span<const Node* const> sources, const Node& result,
                        const Node* stands_for) {
    const aot::DelegateIdentifier id = mapping_.insert(sources);
    text_ +=
        fmt::format("{},{},", kOperators[static_cast<size_t>(kind)].name, std::get<uint32_t>(id));
    ++num_operators_;
    const uint32_t value = add_value(result, stands_for);
    append_word(operators_, static_cast<uint32_t>(kind));
    append_word(operators_, value);
    return value;
  }

  void add_call(const Node& node) {
    if (is_relu(node) && done_.contains(&node)) return;
    std::optional<Refusal> refusal;
    if (is_convolution(node)) {
      refusal = refusal_of_conv_relu(program_, node);
      if (!refusal) return add_conv_relu(node, *relu_after(node));
    } else if (is_tan(node)) {
      refusal = refusal_of_tan(node);
      if (!refusal) return add_tan(node);
    } else {
      refusal = Refusal{"only convolution with relu, and tan, are known", ""};
    }
    throw AotError(
        fmt::format("node {}: {}: {}", node.name(), node.target().name(), refusal->rule));
  }

  void add_conv_relu(const Node& convolution, const Node& relu) {
    done_[&relu] = true;
    const std::array<const Node*, 2> sources = {&convolution, &relu};
    const aot::Call call(convolution);
    const uint32_t input = value_of_.at(&call.node("input"));
    add_operator(Kind::kConvRelu, sources, relu, &relu);
    append_word(operators_, input);
    for (const char* name : {"stride", "padding", "dilation"}) {
      for (const int64_t each : call.integers(name, 2)) {
        append_word(operators_, word_of(convolution, each));
      }
    }
    append_word(operators_, word_of(convolution, call.integer("groups")));
    const aot::TensorData& weight = constant(call.node("weight"));
    for (const int64_t size : weight.sizes) append_word(operators_, word_of(convolution, size));
    const Node* bias = call.optional_node("bias");
    append_word(operators_, bias != nullptr ? 1 : 0);
    add_numbers(weight);
    if (bias != nullptr) add_numbers(constant(*bias));
  }

  const aot::TensorData& constant(const Node& parameter) const {
    return *program_.data_of(*program_.input_of(parameter.name()));
  }

  void add_numbers(const aot::TensorData& data) {
    const std::vector<std::byte> bytes = aot::row_major_bytes(data);
    append(operators_, bytes.data(), bytes.size());
  }

  void add_tan(const Node& tan) {
    const std::array<const Node*, 1> sources = {&tan};
    const uint32_t input = value_of_.at(&aot::Call(tan).node("self"));
    const uint32_t sine = add_operator(Kind::kSin, sources, tan, nullptr);
    append_word(operators_, input);
    const uint32_t cosine = add_operator(Kind::kCos, sources, tan, nullptr);
    append_word(operators_, input);
    add_operator(Kind::kDiv, sources, tan, &tan);
    append_word(operators_, sine);
    append_word(operators_, cosine);
  }

  void write_plan(std::vector<std::byte>& bytes) const {
    const aot::ArgumentList& results = *program_.graph->output()->need(0).list();
    append_word(bytes, kMagic);
    append_word(bytes, static_cast<uint32_t>(values_.size()));
    append_word(bytes, num_inputs_);
    append_word(bytes, static_cast<uint32_t>(results.size()));
    append_word(bytes, num_operators_);
    for (const Node* value : values_) {
      append_word(bytes, static_cast<uint32_t>(value->tensor()->rank()));
      for (const aot::SymInt& size : value->tensor()->sizes) {
        if (!size.is_static()) {
          throw AotError(fmt::format("node {}: sizes must be fixed", value->name()));
        }
        append_word(bytes, word_of(*value, size.value()));
      }
    }
    for (uint32_t i = 0; i < num_inputs_; ++i) append_word(bytes, i);
    for (size_t i = 0; i < results.size(); ++i) {
      const Node* result = results[i].node();
      if (result == nullptr || !value_of_.contains(result) ||
          program_.signature.outputs.at(i).kind != aot::OutputSpec::Kind::kUserOutput) {
        throw AotError(fmt::format("output {}: must be a result of the partition", i));
      }
      append_word(bytes, value_of_.at(result));
    }
    append(bytes, operators_.data(), operators_.size());
  }

  const ExportedProgram& program_;
  aot::DelegateMappingBuilder mapping_{/*generated_identifiers=*/true};
  std::vector<const Node*> values_;  // one of each shape
  std::unordered_map<const Node*, uint32_t> value_of_;
  std::unordered_map<const Node*, bool> done_;
  uint32_t num_inputs_ = 0;
  uint32_t num_operators_ = 0;
  std::string text_;
  std::vector<std::byte> operators_;
};

}  // namespace

aot::PreprocessResult MappingDemo::preprocess(ExportedProgram& program,
                                              std::span<const aot::CompileSpec>) const {
  return Writer(program).write();
}

}  // namespace vitrine::mapping_demo
