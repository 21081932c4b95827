// This file is compiled with -ffp-contract=off, because PyTorch rounds each product and each sum.
#include "aot/quantize/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "aot/graph/lint.h"
#include "aot/quantize/prepare.h"
#include "aot/quantize/stored_floats.h"

namespace vitrine::aot {
namespace {

constexpr double kDynamicEpsilon = 0x1p-12;

// Rounds to the nearest integer, with ties to even.
int8_t quantized_value(float value, float inverse_scale, int64_t zero_point, const Int8Spec& spec) {
  const float rounded = std::nearbyint(value * inverse_scale) + static_cast<float>(zero_point);
  return static_cast<int8_t>(std::clamp(rounded, static_cast<float>(spec.quant_min()),
                                        static_cast<float>(Int8Spec::quant_max())));
}

TensorData quantized_data(const TensorData& data, const Int8Spec& spec,
                          const ObservedRange& range) {
  const std::vector<float> values = floats_of(data);
  std::vector<float> inverse;
  for (const float scale : range.scales) inverse.push_back(1.0F / scale);
  size_t inner = std::max<size_t>(values.size(), 1);
  if (spec.kind == Int8Spec::Kind::kChannelWeight) {
    inner = 1;
    for (size_t i = static_cast<size_t>(spec.axis) + 1; i < data.sizes.size(); ++i) {
      inner *= static_cast<size_t>(data.sizes[i]);
    }
  }
  std::vector<std::byte> bytes(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const float each = inverse[(i / inner) % inverse.size()];
    bytes[i] = static_cast<std::byte>(quantized_value(values[i], each, range.zero_point, spec));
  }
  return make_tensor_data(ScalarType::kChar, data.sizes, std::move(bytes));
}

template <class T>
TensorData vector_of(ScalarType dtype, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor_data(dtype, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

Target decomposed(const char* name) {
  return Target::of(fmt::format("quantized_decomposed.{}", name));
}

class Converter {
 public:
  Converter(ExportedProgram& program, const Annotations& annotations,
            const Calibration& calibration)
      : program_(program), annotations_(annotations), calibration_(calibration) {
    const Writes writes(program);
    for (const Node& node : program.graph->nodes()) {
      if (is_constant(program, writes, node)) constants_.insert(&node);
    }
  }

  void run() {
    std::vector<Node*> tensors;
    for (Node& node : program_.graph->nodes()) tensors.push_back(&node);
    for (Node* tensor : tensors) convert_tensor(*tensor);
    program_.graph->remove_dead_code();
    remove_unused_weights(program_);
    lint(program_);
  }

 private:
  // An int8 tensor, and the call that dequantizes the tensor.
  struct Quantized {
    const Int8Spec* spec = nullptr;
    ArgumentList args;  // arguments of the call that dequantizes
    const char* dequantize = nullptr;
    ArgumentMap kwargs;
    TensorSpec result;
  };

  void convert_tensor(Node& tensor) {
    const auto output = annotations_.group_of.find({&tensor, nullptr});
    const std::vector<Node*> users = tensor.users();
    // Pairs of an observer group and the users that read the tensor through this group.
    std::vector<std::pair<size_t, std::vector<Node*>>> by_group;
    for (Node* user : users) {
      const auto edge = annotations_.group_of.find({&tensor, user});
      if (edge == annotations_.group_of.end()) continue;
      const auto found =
          std::ranges::find(by_group, edge->second, [](const auto& each) { return each.first; });
      if (found == by_group.end()) {
        by_group.push_back({edge->second, {user}});
      } else {
        found->second.push_back(user);
      }
    }
    if (output == annotations_.group_of.end() && by_group.empty()) return;
    Node* source = &tensor;
    if (output != annotations_.group_of.end()) {
      Quantized made = quantize(tensor, output->second);
      std::erase_if(by_group, [&](const auto& each) { return each.first == output->second; });
      std::vector<Node*> readers;
      std::ranges::copy_if(users, std::back_inserter(readers), [&](Node* user) {
        const auto edge = annotations_.group_of.find({&tensor, user});
        return edge == annotations_.group_of.end() || edge->second == output->second;
      });
      source = dequantize_for(readers, made, tensor, !by_group.empty());
    }
    for (const auto& [group, group_users] : by_group) {
      Quantized made = quantize(*source, group, &tensor);
      dequantize_for(group_users, made, tensor, false);
    }
  }

  // Makes the users read dequantized values instead of `tensor`. With a static scale, each
  // annotated call gets its own dequantized tensor, and all other users share one tensor. Returns
  // the shared tensor, or null.
  Node* dequantize_for(const std::vector<Node*>& users, const Quantized& made, Node& tensor,
                       bool needs_shared) {
    const auto has_own = [&](Node* user) {
      return made.spec->kind != Int8Spec::Kind::kDynamicActivation &&
             annotations_.has_content(user);
    };
    Node* shared = nullptr;
    if (needs_shared || !std::ranges::all_of(users, has_own)) shared = dequantize(made, nullptr);
    // Like PyTorch, inserts the dequantize calls in the reverse order of their users.
    for (size_t i = users.size(); i-- > 0;) {
      Node* dequantized = has_own(users[i]) ? dequantize(made, users[i]) : shared;
      users[i]->replace_input(&tensor, dequantized);
      if (users[i]->kind() != Node::Kind::kOutput) continue;
      for (OutputSpec& output : program_.signature.outputs) {
        if (output.name == tensor.name()) output.name = dequantized->name();
      }
    }
    return shared;
  }

  // Inserts a call after the node that produces the int8 tensor. `user` may be null.
  Node* dequantize(const Quantized& made, const Node* user) {
    Node* before = first_after(*made.args.front().node());
    Node* node = program_.graph->call(decomposed(made.dequantize), made.args, made.kwargs, before);
    node->meta.value = made.result;
    if (user != nullptr && user->kind() != Node::Kind::kOutput) {
      node->meta.origin = user->meta.origin;
    }
    made_.insert(node);
    return node;
  }

  // Returns the node before which a user of `node` is inserted.
  Node* first_after(const Node& node) const {
    Node* next = node.next();
    while (next != nullptr && next->kind() == Node::Kind::kPlaceholder) next = next->next();
    // New calls follow the calls that this pass inserted earlier.
    while (next != nullptr && made_.contains(next)) next = next->next();
    return next;
  }

  Quantized quantize(Node& source, size_t group, Node* tensor = nullptr) {
    if (tensor == nullptr) tensor = &source;
    const Int8Spec& spec = annotations_.groups[group].spec;
    const ObservedRange& range = calibration_.ranges.at(group);
    Quantized made;
    made.spec = &spec;
    made.result = *tensor->tensor();
    if (made.result.dtype != ScalarType::kFloat) {
      made.kwargs.emplace_back("out_dtype", made.result.dtype);
    }
    const Argument low = spec.quant_min();
    const Argument high = Int8Spec::quant_max();
    const Argument dtype = ScalarType::kChar;
    if (spec.kind == Int8Spec::Kind::kDynamicActivation) {
      const TensorSpec scale = contiguous_spec(ScalarType::kDouble, {SymInt(1)});
      const TensorSpec zero = contiguous_spec(ScalarType::kLong, {SymInt(1)});
      Node* before = first_after(source);
      Node* chosen =
          insert(source, before, decomposed("choose_qparams.tensor"),
                 {&source, low, high, kDynamicEpsilon, dtype}, Value::Items{scale, zero});
      Node* scales = insert(source, before, getitem(), {chosen, 0}, scale);
      Node* zeros = insert(source, before, getitem(), {chosen, 1}, zero);
      Node* values = insert(source, before, decomposed("quantize_per_tensor.tensor"),
                            {&source, scales, zeros, low, high, dtype}, int8_spec(*tensor));
      made.dequantize = "dequantize_per_tensor.tensor";
      made.args = {values, scales, zeros, low, high, dtype};
      return made;
    }
    const TensorData* constant = constant_data(*tensor);
    Node* values = nullptr;
    if (constant != nullptr && &source == tensor) {
      values = add_buffer("_frozen_param", quantized_data(*constant, spec, range));
    }
    if (spec.kind == Int8Spec::Kind::kChannelWeight) {
      Node* scales = add_buffer("_scale_", vector_of(ScalarType::kFloat, range.scales));
      Node* zeros = add_buffer(
          "_zero_point_", vector_of(ScalarType::kLong, std::vector<int64_t>(range.scales.size())));
      if (values == nullptr) {
        values = insert(source, first_after(source), decomposed("quantize_per_channel.default"),
                        {&source, scales, zeros, spec.axis, low, high, dtype}, int8_spec(*tensor));
      }
      made.dequantize = "dequantize_per_channel.default";
      made.args = {values, scales, zeros, spec.axis, low, high, dtype};
      return made;
    }
    const Argument scale = static_cast<double>(range.scales.at(0));
    const Argument zero = range.zero_point;
    if (values == nullptr) {
      values = insert(source, first_after(source), decomposed("quantize_per_tensor.default"),
                      {&source, scale, zero, low, high, dtype}, int8_spec(*tensor));
    }
    made.dequantize = "dequantize_per_tensor.default";
    made.args = {values, scale, zero, low, high, dtype};
    return made;
  }

  static TensorSpec int8_spec(const Node& tensor) {
    TensorSpec spec = *tensor.tensor();
    spec.dtype = ScalarType::kChar;
    spec.requires_grad = false;
    return spec;
  }

  Node* insert(const Node& source, Node* before, Target target, ArgumentList args, Value value) {
    Node* node = program_.graph->call(target, std::move(args), {}, before);
    node->meta.value = std::move(value);
    if (source.is_call()) node->meta.origin = source.meta.origin;
    made_.insert(node);
    return node;
  }

  const TensorData* constant_data(const Node& tensor) const {
    if (const auto found = calibration_.constants.find(&tensor);
        found != calibration_.constants.end()) {
      return &found->second;
    }
    return constants_.contains(&tensor) ? program_.data_of(*program_.input_of(tensor.name()))
                                        : nullptr;
  }

  Node* add_buffer(const char* prefix, TensorData data) {
    size_t& number = numbers_[prefix];
    const auto name = [&] { return fmt::format("{}{}", prefix, number); };
    while (program_.constants.contains(name())) ++number;
    return program_.add_constant(name(), std::move(data));
  }

  ExportedProgram& program_;
  const Annotations& annotations_;
  const Calibration& calibration_;
  std::set<const Node*> constants_;
  std::map<std::string, size_t> numbers_;  // of buffers, keyed by prefix
  std::set<const Node*> made_;
};

}  // namespace

void convert(ExportedProgram& program, const Annotations& annotations,
             const Calibration& calibration) {
  Converter(program, annotations, calibration).run();
}

}  // namespace vitrine::aot
