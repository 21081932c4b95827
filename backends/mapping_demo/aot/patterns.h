// The patterns that the mapping demo supports.
#pragma once

#include <optional>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::mapping_demo {

using Refusal = aot::Rejection;  // of a call; the partitioner sets the node

// A convolution whose only user is a relu: 2-d, f32, static, row-major, weight and bias constant.
// Empty if it can be taken.
std::optional<Refusal> refusal_of_conv_relu(const aot::ExportedProgram& program,
                                            const aot::Node& convolution);
std::optional<Refusal> refusal_of_tan(const aot::Node& tan);

// The relu after it; null if there is another user.
const aot::Node* relu_after(const aot::Node& convolution);

bool is_convolution(const aot::Node& node);
bool is_relu(const aot::Node& node);
bool is_tan(const aot::Node& node);

}  // namespace vitrine::mapping_demo
