#include "test/aot/optimize/lowered_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "aot/graph/aot_error.h"
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

TensorData bools(std::vector<int64_t> sizes, const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return make_tensor_data(ScalarType::kBool, std::move(sizes), std::move(bytes));
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
  const auto read_at = [&](const std::byte* at) {
    switch (data.dtype) {
      case ScalarType::kFloat:
        return read<float>(at);
      case ScalarType::kDouble:
        return read<double>(at);
      case ScalarType::kHalf:
        return read<Half>(at);
      case ScalarType::kBFloat16:
        return read<BFloat16>(at);
      case ScalarType::kLong:
        return read<int64_t>(at);
      case ScalarType::kInt:
        return read<int32_t>(at);
      case ScalarType::kShort:
        return read<int16_t>(at);
      case ScalarType::kChar:
        return read<int8_t>(at);
      case ScalarType::kByte:
      case ScalarType::kBool:
        return read<uint8_t>(at);
      default:
        throw AotError(std::string("values_of() does not read ") + scalar_type_name(data.dtype));
    }
  };
  const std::vector<std::byte> bytes = row_major_bytes(data);
  Values values;
  for (size_t i = 0; i < bytes.size(); i += element_size(data.dtype)) {
    values.push_back(read_at(bytes.data() + i));
  }
  return values;
}

ExportedProgram program_of(const std::vector<TensorData>& inputs, const Build& make) {
  ModelBuilder build("Net");
  Nodes nodes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    nodes.push_back(build.input("x" + std::to_string(i), inputs[i].dtype,
                                {inputs[i].sizes.begin(), inputs[i].sizes.end()}));
  }
  return build.finish({make(build, nodes)});
}

std::vector<TensorData> run(const std::vector<TensorData>& inputs, const Build& make,
                            std::string* operators) {
  ExportedProgram program = program_of(inputs, make);
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

namespace {

// Replaces each "$" in `args` and in its lists with the next input.
void insert_inputs(ArgumentList& args, const Nodes& inputs, size_t& next) {
  for (Argument& each : args) {
    if (each == Argument("$")) {
      each = inputs.at(next++);
    } else if (each.list() != nullptr) {
      ArgumentList items = *each.list();
      insert_inputs(items, inputs, next);
      each = Argument::list(std::move(items));
    }
  }
}

ArgumentList with_inputs(ArgumentList args, const Nodes& inputs) {
  size_t next = 0;
  insert_inputs(args, inputs, next);
  if (next == 0) args.insert(args.begin(), inputs.begin(), inputs.end());
  return args;
}

}  // namespace

Build one(const char* target, ArgumentList args, ArgumentMap kwargs) {
  return [=](ModelBuilder& build, const Nodes& inputs) {
    return build.call(target, with_inputs(args, inputs), kwargs);
  };
}

Build one_as(const char* target, ArgumentList args, Value value, ArgumentMap kwargs) {
  return [=](ModelBuilder& build, const Nodes& inputs) {
    return build.call_as(target, with_inputs(args, inputs), kwargs, value);
  };
}

Value::Items values_and_indices(const std::vector<SymInt>& sizes) {
  return {contiguous_spec(ScalarType::kFloat, sizes), contiguous_spec(ScalarType::kLong, sizes)};
}

TensorData lowered(const char* target, const std::vector<TensorData>& inputs, ArgumentList args,
                   std::vector<SymInt> sizes, ArgumentMap kwargs, ScalarType dtype) {
  return run(inputs, one_as(target, std::move(args), contiguous_spec(dtype, std::move(sizes)),
                            std::move(kwargs)))[0];
}

TensorData lowered_item(const char* target, const std::vector<TensorData>& inputs,
                        ArgumentList args, Value::Items results, size_t item) {
  const Build make = one_as(target, std::move(args), std::move(results));
  return run(inputs, [&](ModelBuilder& build, const Nodes& in) {
    return build.item(make(build, in), item);
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

void expect_call(const char* target, const std::vector<TensorData>& inputs, ArgumentList args,
                 std::vector<SymInt> sizes, const Values& expected, ArgumentMap kwargs,
                 ScalarType dtype) {
  SCOPED_TRACE(target);
  expect_near(lowered(target, inputs, std::move(args), std::move(sizes), std::move(kwargs), dtype),
              expected);
}

void expect_one(const char* target, const std::vector<TensorData>& inputs, ArgumentList args,
                const Values& expected, ArgumentMap kwargs) {
  SCOPED_TRACE(target);
  expect_near(run(inputs, one(target, std::move(args), std::move(kwargs)))[0], expected);
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
