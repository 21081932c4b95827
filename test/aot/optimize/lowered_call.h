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
TensorData bools(std::vector<int64_t> sizes, const std::vector<int>& values);
// Returns the elements in row-major order, converted to double.
Values values_of(const TensorData& data);

using Build = std::function<Node*(ModelBuilder&, const std::vector<Node*>&)>;
// Returns the program that `make` builds. It has inputs like these, with the names "x0", "x1" ...
ExportedProgram program_of(const std::vector<TensorData>& inputs, const Build& make);
// Runs a program that `make` builds, and returns its results. If `operators` is not null, appends
// the targets of the calls in the lowered program to `operators`.
std::vector<TensorData> run(const std::vector<TensorData>& inputs, const Build& make,
                            std::string* operators = nullptr);
// Lets `write` change a copy of the first input. Returns the elements of the copy.
using Write = std::function<void(ModelBuilder&, Node* copy, const Nodes& in)>;
Values written(const std::vector<TensorData>& inputs, const Write& write);
// Returns a function that adds a call of an operator that aot/operators supports. Each "$" in
// `args` and in its lists is replaced with the next input. If `args` contains no "$", the inputs
// are inserted before `args`.
Build one(const char* target, ArgumentList args = {}, ArgumentMap kwargs = {});
// Like one(), for any operator. `value` describes the results of the call.
Build one_as(const char* target, ArgumentList args, Value value, ArgumentMap kwargs = {});
// Describes the results of operators such as aten.max.dim: f32 values and i64 indices.
Value::Items values_and_indices(const std::vector<SymInt>& sizes);

// Runs the call that one_as() adds. Its result has these sizes and this dtype.
TensorData lowered(const char* target, const std::vector<TensorData>& inputs, ArgumentList args,
                   std::vector<SymInt> sizes, ArgumentMap kwargs = {},
                   ScalarType dtype = ScalarType::kFloat);
// Runs a call with several results and returns one of them.
TensorData lowered_item(const char* target, const std::vector<TensorData>& inputs,
                        ArgumentList args, Value::Items results, size_t item);

// Expects |found - expected| <= tolerance * max(1, |expected|) for each element. NaN
// matches only NaN.
void expect_near(const TensorData& found, const Values& expected, double tolerance = 2e-6);
// Calls lowered() and compares the result with `expected`.
void expect_call(const char* target, const std::vector<TensorData>& inputs, ArgumentList args,
                 std::vector<SymInt> sizes, const Values& expected, ArgumentMap kwargs = {},
                 ScalarType dtype = ScalarType::kFloat);
// Runs the call that one(target, args, kwargs) adds, and compares the result with `expected`.
void expect_one(const char* target, const std::vector<TensorData>& inputs, ArgumentList args,
                const Values& expected, ArgumentMap kwargs = {});
// Expects results of the same sizes and dtypes from both programs, within the default tolerance.
void expect_same_results(const ExportedProgram& a, const ExportedProgram& b,
                         const std::vector<TensorData>& inputs);

}  // namespace vitrine::aot
