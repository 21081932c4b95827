// The most common modules of torch.nn, with seeded weights.
//
// Each opens a module of the given name, makes its weights and calls its operator with the
// arguments that torch.export records. Weights are f32.
#pragma once

#include "aot/builder/model_builder.h"

namespace vitrine::aot::nn {

using Place = ModelBuilder::Place;

struct ConvOptions {
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  bool bias = true;
};
// x is [N, C, H, W].
Node* conv2d(ModelBuilder& build, std::string_view name, Node* x, int64_t out_channels,
             const ConvOptions& options, Place place = Place::current());
// In evaluation mode. Adds running statistics and the batch count, which nothing reads.
Node* batch_norm2d(ModelBuilder& build, std::string_view name, Node* x,
                   Place place = Place::current());
// The last dim becomes `out_features`.
Node* linear(ModelBuilder& build, std::string_view name, Node* x, int64_t out_features,
             bool bias = true, Place place = Place::current());
// Over the last dim.
Node* layer_norm(ModelBuilder& build, std::string_view name, Node* x,
                 Place place = Place::current());
// Looks up one row per index.
Node* embedding(ModelBuilder& build, std::string_view name, Node* indices, int64_t rows,
                int64_t features, Place place = Place::current());
// In place, as in torchvision's models.
Node* relu6(ModelBuilder& build, std::string_view name, Node* x, Place place = Place::current());
// In evaluation mode, where it changes nothing.
Node* dropout(ModelBuilder& build, std::string_view name, Node* x, double probability,
              Place place = Place::current());

}  // namespace vitrine::aot::nn
