#include "test/aot/optimize/lowered_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "aot/passes/pipelines.h"
#include "vitrine/half.h"

namespace vitrine::aot {

TensorData floats(std::vector<int64_t> sizes, const Values& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return make_tensor_data(ScalarType::kFloat, std::move(sizes), std::move(bytes));
}

TensorData integers(std::vector<int64_t> sizes, const std::vector<int64_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(int64_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor_data(ScalarType::kLong, std::move(sizes), std::move(bytes));
}

namespace {

template <class T>
double read(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

Values values_of(const TensorData& data) {
  const std::vector<std::byte> bytes = row_major_bytes(data);
  Values values;
  const size_t width = element_size(data.dtype);
  for (size_t i = 0; i < bytes.size(); i += width) {
    const std::byte* at = bytes.data() + i;
    values.push_back(data.dtype == ScalarType::kFloat      ? read<float>(at)
                     : data.dtype == ScalarType::kDouble   ? read<double>(at)
                     : data.dtype == ScalarType::kLong     ? read<int64_t>(at)
                     : data.dtype == ScalarType::kHalf     ? read<Half>(at)
                     : data.dtype == ScalarType::kBFloat16 ? read<BFloat16>(at)
                     : data.dtype == ScalarType::kInt      ? read<int32_t>(at)
                                                           : static_cast<double>(*at));
  }
  return values;
}

std::vector<TensorData> run(const std::vector<TensorData>& inputs, const Build& make,
                            std::string* operators) {
  ModelBuilder build("Net");
  std::vector<Node*> nodes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    nodes.push_back(build.input("x" + std::to_string(i), inputs[i].dtype,
                                {inputs[i].sizes.begin(), inputs[i].sizes.end()}));
  }
  Node* result = make(build, nodes);
  ExportedProgram program = build.finish({result});
  to_edge(program);
  if (operators != nullptr) {
    for (const Node& node : program.graph->nodes()) {
      if (node.is_call()) *operators += node.target().name() + " ";
    }
  }
  return evaluate(program, inputs);
}

Values written(const std::vector<TensorData>& inputs, const Write& write) {
  return values_of(run(inputs, [&](ModelBuilder& build, const Nodes& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    write(build, copy, in);
    return copy;
  })[0]);
}

Build one(const char* target, ArgumentList rest, ArgumentMap kwargs) {
  return [=](ModelBuilder& build, const std::vector<Node*>& inputs) {
    ArgumentList args(inputs.begin(), inputs.end());
    args.insert(args.end(), rest.begin(), rest.end());
    return build.call(target, std::move(args), kwargs);
  };
}

TensorData lowered(const char* target, const std::vector<TensorData>& inputs,
                   const Arguments& arguments, std::vector<SymInt> sizes, ArgumentMap kwargs,
                   ScalarType dtype) {
  return run(inputs, [&](ModelBuilder& build, const std::vector<Node*>& nodes) {
    return build.call_as(target, arguments(nodes), kwargs, contiguous_spec(dtype, sizes));
  })[0];
}

TensorData lowered(const char* target, const std::vector<TensorData>& inputs,
                   const ArgumentList& rest, std::vector<SymInt> sizes, ArgumentMap kwargs,
                   ScalarType dtype) {
  const auto all = [&](const std::vector<Node*>& nodes) {
    ArgumentList args(nodes.begin(), nodes.end());
    args.insert(args.end(), rest.begin(), rest.end());
    return args;
  };
  return lowered(target, inputs, Arguments(all), std::move(sizes), std::move(kwargs), dtype);
}

TensorData lowered_item(const char* target, const std::vector<TensorData>& inputs,
                        const Arguments& arguments, const Value::Items& results, size_t item) {
  return run(inputs, [&](ModelBuilder& build, const std::vector<Node*>& nodes) {
    return build.item(build.call_as(target, arguments(nodes), {}, results), item);
  })[0];
}

void expect_near(const TensorData& found, const Values& expected, double tolerance) {
  const Values values = values_of(found);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i]))) continue;
    EXPECT_TRUE(std::isfinite(expected[i])) << "element " << i << " is " << values[i];
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
  }
}

void expect_call(const char* target, const std::vector<TensorData>& inputs, ArgumentList rest,
                 std::vector<SymInt> sizes, const Values& expected, ArgumentMap kwargs,
                 ScalarType dtype) {
  SCOPED_TRACE(target);
  expect_near(lowered(target, inputs, rest, std::move(sizes), std::move(kwargs), dtype), expected);
}

void expect_one(const char* target, const std::vector<TensorData>& inputs, ArgumentList rest,
                const Values& expected, ArgumentMap kwargs) {
  SCOPED_TRACE(target);
  expect_near(run(inputs, one(target, std::move(rest), std::move(kwargs)))[0], expected);
}

void expect_same_results(const ExportedProgram& a, const ExportedProgram& b,
                         const std::vector<TensorData>& inputs) {
  const std::vector<TensorData> found = evaluate(a, inputs);
  const std::vector<TensorData> expected = evaluate(b, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].dtype, expected[i].dtype);
    EXPECT_EQ(found[i].sizes, expected[i].sizes);
    expect_near(found[i], values_of(expected[i]));
  }
}

}  // namespace vitrine::aot
