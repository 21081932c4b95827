// Lowers single operators and runs them with our kernels, for tests of decompositions.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "aot/operators/decomposition.h"
#include "aot/optimize/evaluate.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {

using Values = std::vector<double>;
using Nodes = std::vector<Node*>;

inline const Values kPoints = {-30, -3, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.5, 3, 5, 30};
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorData floats(std::vector<int64_t> sizes, const Values& values);
TensorData integers(std::vector<int64_t> sizes, const std::vector<int64_t>& values);
// Returns the elements in row-major order, converted to double.
Values values_of(const TensorData& data);

using Build = std::function<Node*(ModelBuilder&, const std::vector<Node*>&)>;
// Runs a program that `make` builds, and returns its results. If `operators` is not null, appends
// the targets of the calls in the lowered program to `operators`.
std::vector<TensorData> run(const std::vector<TensorData>& inputs, const Build& make,
                            std::string* operators = nullptr);
// Lets `write` change a copy of the first input. Returns the elements of the copy.
using Write = std::function<void(ModelBuilder&, Node* copy, const Nodes& in)>;
Values written(const std::vector<TensorData>& inputs, const Write& write);
// Returns a function that adds a call of an operator. The arguments of the call are all inputs,
// followed by `rest`. The operator must be one that aot/operators supports.
Build one(const char* target, ArgumentList rest = {}, ArgumentMap kwargs = {});

// Runs a call of any operator. The caller passes the sizes and the dtype of the result, because
// they are not inferred.
using Arguments = std::function<ArgumentList(const std::vector<Node*>&)>;
TensorData lowered(const char* target, const std::vector<TensorData>& inputs,
                   const Arguments& arguments, std::vector<SymInt> sizes, ArgumentMap kwargs = {},
                   ScalarType dtype = ScalarType::kFloat);
// Runs a call whose arguments are the inputs, followed by `rest`.
TensorData lowered(const char* target, const std::vector<TensorData>& inputs,
                   const ArgumentList& rest, std::vector<SymInt> sizes, ArgumentMap kwargs = {},
                   ScalarType dtype = ScalarType::kFloat);
// Runs a call with several results and returns one of them.
TensorData lowered_item(const char* target, const std::vector<TensorData>& inputs,
                        const Arguments& arguments, const Value::Items& results, size_t item);

// Expects |found - expected| <= tolerance * max(1, |expected|) for each element. NaN
// matches only NaN.
void expect_near(const TensorData& found, const Values& expected, double tolerance = 2e-6);
// Calls lowered() and compares the result with `expected`.
void expect_call(const char* target, const std::vector<TensorData>& inputs, ArgumentList rest,
                 std::vector<SymInt> sizes, const Values& expected, ArgumentMap kwargs = {},
                 ScalarType dtype = ScalarType::kFloat);
// Runs the call that one(target, rest, kwargs) adds, and compares the result with `expected`.
void expect_one(const char* target, const std::vector<TensorData>& inputs, ArgumentList rest,
                const Values& expected, ArgumentMap kwargs = {});
// Expects results of the same sizes and dtypes from both programs, within the default tolerance.
void expect_same_results(const ExportedProgram& a, const ExportedProgram& b,
                         const std::vector<TensorData>& inputs);

}  // namespace vitrine::aot
