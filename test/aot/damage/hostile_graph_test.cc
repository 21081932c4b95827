// Tests small graphs that would need excessive time, memory or stack. Run this under
// AddressSanitizer.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "test/aot/import/pt2_writer.h"
#include "test/corruption/lowering_attempt.h"

// AddressSanitizer aborts the test if one allocation exceeds 256 MiB.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=256"; }

namespace vitrine {
namespace {

using nlohmann::json;
using test::LoweringPath;
using test::tensor_json;

using Sizes = std::vector<json>;

json size_of(int64_t size) { return test::integer_json(size); }
json size_of(const std::string& expression) {
  return {{"as_expr", {{"expr_str", expression}, {"hint", nullptr}}}};
}

json meta_of(const std::vector<json>& sizes) {
  return test::meta_json(7, sizes, std::vector<json>(sizes.size(), test::integer_json(1)));
}

// Builds a program with one input, x. The result of the last call is its output.
class Program {
 public:
  explicit Program(const std::vector<json>& input_sizes) {
    json& graph = json_["graph_module"]["graph"];
    graph["inputs"] = json::array({tensor_json("x")});
    graph["nodes"] = json::array();
    graph["tensor_values"] = {{"x", meta_of(input_sizes)}};
    json_["graph_module"]["signature"]["input_specs"] =
        json::array({{{"user_input", {{"arg", tensor_json("x")}}}}});
  }

  void add_range(const std::string& symbol, int64_t min, int64_t max) {
    json_["range_constraints"][symbol] = {{"min_val", min}, {"max_val", max}};
  }

  // Adds a call with positional arguments. Returns the name of its result.
  std::string call(const std::string& target, const std::vector<json>& args,
                   const std::vector<json>& sizes) {
    const std::string name = "v" + std::to_string(count_++);
    std::vector<json> inputs;
    for (const json& arg : args) inputs.push_back(test::argument_json("a", arg));
    json& graph = json_["graph_module"]["graph"];
    graph["nodes"].push_back(test::node_json("torch.ops.aten." + target, inputs, name));
    graph["tensor_values"][name] = meta_of(sizes);
    last_ = name;
    return name;
  }

  // Lowers the program three times: without a backend, for XNNPACK and for the demo backend. Each
  // lowering must succeed or throw an AotError within two minutes. Returns the error of the first
  // lowering, which uses no backend.
  std::string lower() {
    json_["graph_module"]["graph"]["outputs"] = json::array({tensor_json(last_)});
    json_["graph_module"]["signature"]["output_specs"] =
        json::array({{{"user_output", {{"arg", tensor_json(last_)}}}}});
    const std::vector<std::byte> bytes = test::write_zip(test::small_pt2(json_.dump()));
    std::string first;
    for (const LoweringPath path :
         {LoweringPath::kNoBackend, LoweringPath::kXnnpack, LoweringPath::kDemo}) {
      const auto begin = std::chrono::steady_clock::now();
      try {
        const std::string error = test::attempt_lowering(bytes, path);
        if (path == LoweringPath::kNoBackend) first = error;
      } catch (const std::exception& error) {
        ADD_FAILURE() << "not an AotError: " << error.what();
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      EXPECT_LT(took.count(), 120);
    }
    return first;
  }

 private:
  json json_ = json::parse(test::small_program_json());
  size_t count_ = 0;
  std::string last_ = "x";
};

constexpr int64_t kHuge = int64_t{1} << 40;

// Lowers a program that contains only this call. Returns the result of Program::lower().
std::string error_of(const Sizes& input, const std::string& target, const std::vector<json>& args,
                     const Sizes& result) {
  Program program(input);
  program.call(target, args, result);
  return program.lower();
}

TEST(HostileGraph, RejectsHugeInputs) {
  const json large = size_of(int64_t{1} << 30);
  for (const Sizes& sizes : {Sizes{size_of(kHuge)}, Sizes{large, large, large}}) {
    const std::string error = error_of(sizes, "relu.default", {tensor_json("x")}, sizes);
    EXPECT_NE(error.find("node x"), std::string::npos) << error;
  }
}

TEST(HostileGraph, SurvivesHugeResultsOfTensorFactories) {
  const Sizes one{size_of(1)};
  for (const int64_t size : {int64_t{1} << 30, kHuge, INT64_MAX}) {
    const json number = {{"as_int", size}};
    error_of(one, "full.default", {{{"as_ints", json::array({size})}}, {{"as_float", 1.0}}},
             {size_of(size)});
    error_of(one, "arange.default", {number}, {size_of(size)});
    error_of(one, "eye.default", {number}, {size_of(size), size_of(size)});
  }
}

TEST(HostileGraph, SurvivesSplitsIntoVeryManyPieces) {
  const Sizes large{size_of(int64_t{1} << 30)};
  error_of(large, "unbind.int", {tensor_json("x"), json{{"as_int", 0}}}, {});
  error_of(large, "split.Tensor", {tensor_json("x"), json{{"as_int", 1}}}, {size_of(1)});
  error_of({size_of(int64_t{1} << 20), size_of(3), size_of(3)}, "pixel_unshuffle.default",
           {tensor_json("x"), json{{"as_int", -1}}}, {size_of(1), size_of(1), size_of(1)});
}

// Each of 64 calls doubles a symbolic size. If the last size were stored as a sum, the sum would
// have 2^64 terms.
TEST(HostileGraph, SurvivesHugeSymbolicSizesAndManyDims) {
  const std::string symbol = "Symbol('s0', positive=True, integer=True)";
  Program program(Sizes{size_of(symbol)});
  program.add_range("s0", 1, 8);
  std::string last = "x";
  for (int i = 0; i < 64; ++i) {
    const json both = {{"as_tensors", json::array({{{"name", last}}, {{"name", last}}})}};
    last = program.call("cat.default", {both, json{{"as_int", 0}}}, {size_of(symbol)});
  }
  program.lower();
  Program dims(Sizes{size_of(1)});
  last = "x";
  for (int i = 0; i < 500; ++i) {
    last = dims.call("unsqueeze.default", {tensor_json(last), json{{"as_int", 0}}}, {size_of(1)});
  }
  dims.lower();
}

TEST(HostileGraph, SurvivesCallsWithManyArguments) {
  constexpr size_t kMany = 20000;
  const Sizes two{size_of(2)};
  const json names = std::vector<json>(kMany, json{{"name", "x"}});
  EXPECT_EQ(error_of(two, "cat.default", {json{{"as_tensors", names}}, json{{"as_int", 0}}},
                     {size_of(2 * int64_t{kMany})}),
            "");
  const json ones = std::vector<int>(kMany, 1);
  error_of(two, "expand.default", {tensor_json("x"), json{{"as_ints", ones}}}, two);
  std::vector<json> args(kMany, json{{"as_int", 1}});
  args[0] = tensor_json("x");
  EXPECT_NE(error_of(two, "relu.default", args, two), "");
}

// A chain of many calls that all use the same value.
TEST(HostileGraph, AcceptsValueWithManyUsers) {
  Program program(Sizes{size_of(2)});
  std::string last = "x";
  for (int i = 0; i < 2000; ++i) {
    last = program.call("add.Tensor", {tensor_json(last), tensor_json("x")}, {size_of(2)});
  }
  EXPECT_EQ(program.lower(), "");
}

TEST(HostileGraph, SurvivesResultShapesThatOperatorsCannotProduce) {
  const std::vector<std::vector<json>> shapes = {
      {},
      {size_of(0)},
      {size_of(2)},
      {size_of(2), size_of(3)},
      {size_of(1), size_of(2), size_of(3), size_of(4)},
      {size_of(1), size_of(2), size_of(3), size_of(4), size_of(5), size_of(6), size_of(7)}};
  const std::vector<std::string> targets = {"relu.default",
                                            "permute.default",
                                            "slice.Tensor",
                                            "select.int",
                                            "view.default",
                                            "squeeze.dims",
                                            "unsqueeze.default",
                                            "cat.default",
                                            "mm.default",
                                            "conv2d.default",
                                            "linear.default",
                                            "max_pool2d.default",
                                            "mean.dim",
                                            "softmax.int",
                                            "layer_norm.default",
                                            "expand.default",
                                            "constant_pad_nd.default",
                                            "narrow.default",
                                            "upsample_bilinear2d.vec",
                                            "lstm.input",
                                            "einsum.default",
                                            "scaled_dot_product_attention.default",
                                            "batch_norm.default",
                                            "max.dim",
                                            "unfold.default",
                                            "diagonal.default",
                                            "index.Tensor",
                                            "topk.default",
                                            "split_with_sizes.default",
                                            "as_strided.default"};
  const std::vector<json> arguments = {
      tensor_json("x"),
      json{{"as_int", -1}},
      json{{"as_int", 1}},
      json{{"as_int", int64_t{1} << 62}},
      json{{"as_ints", json::array({0, 1})}},
      json{{"as_ints", json::array({-1})}},
      json{{"as_tensors", json::array({{{"name", "x"}}, {{"name", "x"}}})}},
      json{{"as_float", 0.5}}};
  uint32_t state = 1;
  const auto next = [&](size_t count) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % count;
  };
  for (const std::string& target : targets) {
    for (const auto& input : shapes) {
      for (int round = 0; round < 3; ++round) {
        Program program(input);
        std::vector<json> args = {next(4) == 0 ? arguments[next(arguments.size())]
                                               : tensor_json("x")};
        for (size_t count = next(5); count > 0; --count)
          args.push_back(arguments[next(arguments.size())]);
        SCOPED_TRACE(target + " " + json(args).dump());
        const std::string made = program.call(target, args, shapes[next(shapes.size())]);
        program.call("relu.default", {tensor_json(made)}, shapes[next(shapes.size())]);
        program.lower();
      }
    }
  }
}

}  // namespace
}  // namespace vitrine
