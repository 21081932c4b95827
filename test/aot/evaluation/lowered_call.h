// Lowers single operators and runs them with our kernels, for tests of decompositions.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "aot/builder/model_builder.h"
#include "aot/evaluation/evaluate.h"
#include "aot/passes/decomposition.h"

namespace vitrine::aot {

using Values = std::vector<double>;
using Nodes = std::vector<Node*>;

inline const Values kPoints = {-30, -3, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.5, 3, 5, 30};
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorData floats(std::vector<int64_t> sizes, const Values& values);
TensorData integers(std::vector<int64_t> sizes, const std::vector<int64_t>& values);
// Row-major, whatever the dtype.
Values values_of(const TensorData& data);

using Build = std::function<Node*(ModelBuilder&, const std::vector<Node*>&)>;
// `operators`: the targets that the call became, one after another.
std::vector<TensorData> run(const std::vector<TensorData>& inputs, const Build& make,
                            std::string* operators = nullptr);
// A copy of the first input after `write`.
using Write = std::function<void(ModelBuilder&, Node* copy, const Nodes& in)>;
Values written(const std::vector<TensorData>& inputs, const Write& write);
// Calls an operator that aot/shapes supports, with all inputs and then the other arguments.
Build one(const char* target, ArgumentList rest = {}, ArgumentMap kwargs = {});

// A call of any operator; its f32 result has these sizes.
using Arguments = std::function<ArgumentList(const std::vector<Node*>&)>;
TensorData lowered(const char* target, const std::vector<TensorData>& inputs,
                   const Arguments& arguments, std::vector<SymInt> sizes, ArgumentMap kwargs = {},
                   ScalarType dtype = ScalarType::kFloat);
// The same of the inputs and then the rest.
TensorData lowered(const char* target, const std::vector<TensorData>& inputs,
                   const ArgumentList& rest, std::vector<SymInt> sizes, ArgumentMap kwargs = {},
                   ScalarType dtype = ScalarType::kFloat);
// One of several results.
TensorData lowered_item(const char* target, const std::vector<TensorData>& inputs,
                        const Arguments& arguments, const Value::Items& results, size_t item);

// Within so much of an expected number, of its size if that is over 1.
void expect_near(const TensorData& found, const Values& expected, double tolerance = 2e-6);

}  // namespace vitrine::aot
