#include <cmath>
#include <cstring>
#include <optional>

#include "aot/operators/call.h"
#include "aot/operators/strides.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

using Floats = std::vector<float>;

std::optional<Floats> floats_of(const ExportedProgram& program, const Node* node) {
  const TensorData* data = constant_of(program, node);
  if (data == nullptr || data->dtype != ScalarType::kFloat) return {};
  const std::vector<std::byte> bytes = row_major_bytes(*data);
  Floats values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TensorData tensor_of(std::vector<int64_t> sizes, const Floats& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor_data(ScalarType::kFloat, std::move(sizes), std::move(bytes));
}

// A batch norm in the form y = factor * x + offset, with one element per channel.
struct Affine {
  std::vector<double> factor;
  std::vector<double> offset;
};

std::optional<Affine> affine_of(const ExportedProgram& program, const Node& norm) {
  const Call call(norm);
  const auto mean = floats_of(program, call.optional_node("running_mean"));
  const auto variance = floats_of(program, call.optional_node("running_var"));
  if (!mean || !variance || mean->size() != variance->size()) return {};
  const size_t channels = mean->size();
  Node* weight = call.optional_node("weight");
  Node* bias = call.optional_node("bias");
  const auto gamma = weight == nullptr ? Floats(channels, 1) : floats_of(program, weight);
  const auto beta = bias == nullptr ? Floats(channels, 0) : floats_of(program, bias);
  if (!gamma || !beta || gamma->size() != channels || beta->size() != channels) return {};
  const double eps = call.real("eps");
  Affine affine;
  for (size_t i = 0; i < channels; ++i) {
    const double factor = (*gamma)[i] / std::sqrt((*variance)[i] + eps);
    if (!std::isfinite(factor)) return {};
    affine.factor.push_back(factor);
    affine.offset.push_back((*beta)[i] - (*mean)[i] * factor);
  }
  return affine;
}

// Returns the convolution before the norm, or null. The norm must be the only user of the
// convolution, and the convolution the only user of its weight.
Node* convolution_before(const Node& norm) {
  Node* found = tensor_arg(norm, 0);
  if (!calls(found, "aten.convolution.default") || found->users().size() != 1) return nullptr;
  const Node* weight = tensor_arg(*found, 1);
  const bool is_foldable =
      weight != nullptr && weight->users().size() == 1 && !Call(*found).boolean("transposed");
  return is_foldable ? found : nullptr;
}

class BatchNormFolder {
 public:
  BatchNormFolder(ExportedProgram& program, Changes& changes)
      : program_(program), changes_(changes) {}

  void visit(Node& norm) {
    for (const Node* user : norm.users()) {
      if (!user->calls(getitem()) || user->need(1).get<int64_t>() == nullptr ||
          *user->need(1).get<int64_t>() != 0) {
        return;
      }
    }
    Node* convolution = convolution_before(norm);
    if (convolution == nullptr) return;
    const std::optional<Affine> affine = affine_of(program_, norm);
    if (affine) fold(norm, *convolution, *affine);
  }

 private:
  void fold(Node& norm, Node& convolution, const Affine& affine) {
    Node* weight = tensor_arg(convolution, 1);
    std::optional<Floats> weights = floats_of(program_, weight);
    const size_t channels = affine.factor.size();
    if (!weights || weights->empty() || !is_contiguous(*weight->tensor()) ||
        weights->size() % channels != 0 ||
        weight->tensor()->sizes.at(0) != SymInt(static_cast<int64_t>(channels))) {
      return;
    }
    Node* bias = tensor_arg(convolution, 2);
    std::optional<Floats> biases = bias == nullptr ? Floats(channels) : floats_of(program_, bias);
    if (!biases || biases->size() != channels) return;

    const size_t per_channel = weights->size() / channels;
    for (size_t i = 0; i < weights->size(); ++i) {
      (*weights)[i] = static_cast<float>((*weights)[i] * affine.factor[i / per_channel]);
    }
    for (size_t i = 0; i < channels; ++i) {
      (*biases)[i] = static_cast<float>((*biases)[i] * affine.factor[i] + affine.offset[i]);
    }
    const TensorData* data = constant_of(program_, weight);
    convolution.set_arg(1,
                        program_.add_constant("_normed_weight", tensor_of(data->sizes, *weights)));
    const auto length = static_cast<int64_t>(channels);
    convolution.set_arg(2, program_.add_constant("_normed_bias", tensor_of({length}, *biases)));
    changes_.remove("batch norm folded into a convolution", norm);
    const std::vector<Node*> items(norm.users().begin(),
                                   norm.users().end());  // a copy, since replacing changes users()
    for (Node* item : items) replace_node(program_, *item, convolution);
  }

  ExportedProgram& program_;
  Changes& changes_;
};

}  // namespace

void fold_batch_norms(ExportedProgram& program, Changes& changes) {
  BatchNormFolder folder(program, changes);
  std::vector<Node*> norms;  // collected first, since folding changes the graph
  for (Node& node : program.graph->nodes()) {
    if (calls(&node, "aten._native_batch_norm_legit_no_training.default")) norms.push_back(&node);
  }
  for (Node* norm : norms) folder.visit(*norm);
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
