#include "examples/models/layers.h"

#include <fmt/format.h>

#include <cmath>

#include "aot/graph/aot_error.h"
#include "examples/models/seeded_weights.h"

namespace vitrine::aot::nn {
namespace {

int64_t static_size(const Node* x, size_t dim, std::string_view layer) {
  const TensorSpec* spec = x->tensor();
  if (spec == nullptr || dim >= spec->rank() || !spec->sizes[dim].is_static()) {
    throw AotError(fmt::format("{}: dim {} of the input must be static", layer, dim));
  }
  return spec->sizes[dim].value();
}
int64_t last_size(const Node* x, std::string_view layer) {
  const size_t rank = x->tensor() == nullptr ? 0 : x->tensor()->rank();
  return static_size(x, rank == 0 ? 0 : rank - 1, layer);
}

Node* weight(ModelBuilder& build, std::string_view name, std::vector<int64_t> sizes, float spread,
             float center = 0) {
  return build.parameter(
      name, seeded_weights(build.qualified(name), build.seed(), std::move(sizes), spread, center));
}
Node* state(ModelBuilder& build, std::string_view name, std::vector<int64_t> sizes, float spread,
            float center) {
  return build.buffer(
      name, seeded_weights(build.qualified(name), build.seed(), std::move(sizes), spread, center));
}

Argument pair(int64_t value) { return std::vector<int64_t>{value, value}; }

}  // namespace

Node* conv2d(ModelBuilder& build, std::string_view name, Node* x, int64_t out_channels,
             const ConvOptions& options, SourceLocation location) {
  const auto module = build.module(name, "torch.nn.modules.conv.Conv2d", location);
  const int64_t channels = static_size(x, 1, build.qualified(""));
  if (options.groups < 1 || channels % options.groups != 0) {
    throw AotError(fmt::format("{}: the number of groups must divide the number of channels",
                               build.qualified("")));
  }
  const int64_t taps = channels / options.groups * options.kernel * options.kernel;
  // With He initialization, results have about the same variance as the input.
  const float spread = std::sqrt(6.0f / static_cast<float>(taps));
  Node* kernel =
      weight(build, "weight",
             {out_channels, channels / options.groups, options.kernel, options.kernel}, spread);
  Node* bias = options.bias ? weight(build, "bias", {out_channels}, 0.1f) : nullptr;
  // Omits trailing arguments with default values, as torch.export does.
  ArgumentList args = {x, kernel};
  const bool has_groups = options.groups != 1;
  const bool has_padding = options.padding != 0 || has_groups;
  const bool has_stride = options.stride != 1 || has_padding;
  if (bias != nullptr || has_stride) args.push_back(bias == nullptr ? Argument() : Argument(bias));
  if (has_stride) args.push_back(pair(options.stride));
  if (has_padding) args.push_back(pair(options.padding));
  if (has_groups) {
    args.push_back(pair(1));
    args.emplace_back(options.groups);
  }
  return build.call("aten.conv2d.default", std::move(args), {}, location);
}

Node* batch_norm2d(ModelBuilder& build, std::string_view name, Node* x, SourceLocation location) {
  const auto module = build.module(name, "torch.nn.modules.batchnorm.BatchNorm2d", location);
  const int64_t channels = static_size(x, 1, build.qualified(""));
  Node* scale = weight(build, "weight", {channels}, 0.1f, 1.0f);
  Node* bias = weight(build, "bias", {channels}, 0.1f);
  Node* mean = state(build, "running_mean", {channels}, 0.1f, 0.0f);
  Node* variance = state(build, "running_var", {channels}, 0.25f, 1.0f);
  build.buffer("num_batches_tracked",
               make_tensor_data(ScalarType::kLong, {}, std::vector<std::byte>(sizeof(int64_t))));
  return build.call("aten.batch_norm.default",
                    {x, scale, bias, mean, variance, false, 0.0, 1e-5, false}, {}, location);
}

Node* linear(ModelBuilder& build, std::string_view name, Node* x, int64_t out_features, bool bias,
             SourceLocation location) {
  const auto module = build.module(name, "torch.nn.modules.linear.Linear", location);
  const int64_t features = last_size(x, build.qualified(""));
  ArgumentList args = {x, build.parameter("weight", {out_features, features})};
  if (bias) args.emplace_back(weight(build, "bias", {out_features}, 0.1f));
  return build.call("aten.linear.default", std::move(args), {}, location);
}

Node* layer_norm(ModelBuilder& build, std::string_view name, Node* x, SourceLocation location) {
  const auto module = build.module(name, "torch.nn.modules.normalization.LayerNorm", location);
  const int64_t features = last_size(x, build.qualified(""));
  Node* scale = weight(build, "weight", {features}, 0.1f, 1.0f);
  Node* bias = weight(build, "bias", {features}, 0.1f);
  return build.call("aten.layer_norm.default",
                    {x, std::vector<int64_t>{features}, scale, bias, 1e-5, false}, {}, location);
}

Node* embedding(ModelBuilder& build, std::string_view name, Node* indices, int64_t rows,
                int64_t features, SourceLocation location) {
  const auto module = build.module(name, "torch.nn.modules.sparse.Embedding", location);
  Node* table = weight(build, "weight", {rows, features}, 1.0f);
  return build.call("aten.embedding.default", {table, indices}, {}, location);
}

Node* relu6(ModelBuilder& build, std::string_view name, Node* x, SourceLocation location) {
  const auto module = build.module(name, "torch.nn.modules.activation.ReLU6", location);
  return build.call("aten.hardtanh_.default", {x, 0.0, 6.0}, {}, location);
}

Node* dropout(ModelBuilder& build, std::string_view name, Node* x, double probability,
              SourceLocation location) {
  const auto module = build.module(name, "torch.nn.modules.dropout.Dropout", location);
  return build.call("aten.dropout.default", {x, probability, false}, {}, location);
}

}  // namespace vitrine::aot::nn
