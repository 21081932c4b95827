// Builds the most common modules of torch.nn with seeded f32 weights. Each function adds a module
// with the given name, and calls the module's operator with the arguments that torch.export
// records.
#pragma once

#include "examples/models/model_builder.h"

namespace vitrine::aot::nn {

struct ConvOptions {
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  bool bias = true;
};
// The input x has the shape [N, C, H, W].
Node* conv2d(ModelBuilder& build, std::string_view name, Node* x, int64_t out_channels,
             const ConvOptions& options, SourceLocation location = SourceLocation::current());
// Normalizes as in evaluation mode. The batch count is a buffer that nothing reads.
Node* batch_norm2d(ModelBuilder& build, std::string_view name, Node* x,
                   SourceLocation location = SourceLocation::current());
// The result's last dim has `out_features` elements.
Node* linear(ModelBuilder& build, std::string_view name, Node* x, int64_t out_features,
             bool bias = true, SourceLocation location = SourceLocation::current());
// Normalizes over the last dim.
Node* layer_norm(ModelBuilder& build, std::string_view name, Node* x,
                 SourceLocation location = SourceLocation::current());
Node* embedding(ModelBuilder& build, std::string_view name, Node* indices, int64_t rows,
                int64_t features, SourceLocation location = SourceLocation::current());
// Calls the in-place operator, which overwrites `x`, as torchvision's models do.
Node* relu6(ModelBuilder& build, std::string_view name, Node* x,
            SourceLocation location = SourceLocation::current());
// Returns x unchanged, as dropout does in evaluation mode.
Node* dropout(ModelBuilder& build, std::string_view name, Node* x, double probability,
              SourceLocation location = SourceLocation::current());

}  // namespace vitrine::aot::nn
