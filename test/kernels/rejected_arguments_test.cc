// Checks that every kernel rejects certain invalid arguments.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "test/kernels/hostile_calls.h"
#include "test/kernels/hostile_values.h"
#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

testing::AssertionResult is_rejected(const OpCall& call) {
  const Error error = run_checked(call);
  if (!error.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << call.text();
}

// Calls change(call, argument) for each argument of all calls, and restores the argument
// afterwards.
template <class Change>
void for_each_argument(const Change& change) {
  for (const OpCall& sample : op_calls()) {
    OpCall call = sample;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      change(call, call.arguments[i]);
      call.arguments[i] = sample.arguments[i];
    }
  }
}

bool is_one_of_names(const Argument& argument, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, std::string_view(argument.name)) != names.end();
}

int64_t rank_for_dims(const OpCall& call) {
  const auto rank = static_cast<int64_t>(Mutator::rank_of(call.arguments));
  // These operators add a dimension, so `dim` may be from -rank - 1 to rank.
  return call.name.starts_with("aten::unsqueeze_copy") || call.name.starts_with("aten::stack")
             ? rank + 1
             : rank;
}

TEST(KernelErrors, RejectsDimensionOutOfRange) {
  size_t calls = 0;
  for_each_argument([&](OpCall& call, Argument& argument) {
    if (!is_one_of_names(argument, {"dim", "dim0", "dim1", "dim2", "dims", "dimension", "axis"})) {
      return;
    }
    const int64_t rank = rank_for_dims(call);
    for (const int64_t dim : {rank, -rank - 1, INT64_MIN, INT64_MAX}) {
      if (argument.kind == Kind::kInt) argument.integer = dim;
      if (argument.kind == Kind::kInts) argument.ints.back() = dim;
      EXPECT_TRUE(is_rejected(call));
      ++calls;
    }
  });
  EXPECT_GT(calls, 150u);
}

TEST(KernelErrors, RejectsDimensionListedTwice) {
  for_each_argument([&](OpCall& call, Argument& argument) {
    if (!is_one_of_names(argument, {"dim", "dims"}) || argument.kind != Kind::kInts) return;
    if (call.name == "aten::roll.out") return;  // rolls a dimension twice, like PyTorch
    const int64_t rank = rank_for_dims(call);
    argument.ints = {0, -rank};
    EXPECT_TRUE(is_rejected(call));
    argument.ints.assign(20, 1);
    EXPECT_TRUE(is_rejected(call));
  });
}

TEST(KernelErrors, RejectsIndexOutOfRange) {
  size_t calls = 0;
  const auto reject_indices = [&](const OpCall& call, Argument& tensor) {
    for (const int64_t index : {int64_t{1} << 20, int64_t{-1} << 20, int64_t{INT32_MIN}}) {
      tensor.elements = {Number::of(int64_t{0}), Number::of(index)};
      EXPECT_TRUE(is_rejected(call));
      ++calls;
    }
  };
  for_each_argument([&](OpCall& call, Argument& argument) {
    if (!is_one_of_names(argument, {"index", "indices"}) || argument.output) return;
    if (argument.is_tensor()) reject_indices(call, argument);
    if (argument.kind == Kind::kOptionalTensors) {
      for (Argument& item : argument.items) {
        if (item.is_tensor() && item.dtype != ScalarType::kBool) reject_indices(call, item);
      }
    }
    if (argument.kind != Kind::kInt) return;
    for (const int64_t index : {int64_t{1} << 20, int64_t{-1} << 20, INT64_MIN, INT64_MAX}) {
      argument.integer = index;
      EXPECT_TRUE(is_rejected(call));
      ++calls;
    }
  });
  EXPECT_GT(calls, 50u);
}

TEST(KernelErrors, RejectsNumberOutOfRange) {
  // The smallest valid value of an argument, or of each item if the argument is a list.
  struct Minimum {
    std::string_view name;
    int64_t value;
  };
  constexpr Minimum kMin[] = {
      {"size", -1},
      {"output_size", 0},
      {"repeats", 0},
      {"split_sizes", 0},
      {"normalized_shape", 0},
      {"kernel_size", 1},
      {"length", 0},
      {"split_size", 0},
      {"k", 0},
      {"groups", 1},
      {"group", 1},
      {"N", 0},
      {"C", 0},
      {"HxW", 0},
      {"dilation", 1},
      {"step", 1},
      {"upscale_factor", 1},
      {"downscale_factor", 1},
      {"storage_offset", 0},
      {"output_padding", 0},
  };
  size_t calls = 0;
  for_each_argument([&](OpCall& call, Argument& argument) {
    const auto* minimum = std::ranges::find(kMin, std::string_view(argument.name), &Minimum::name);
    int64_t lowest = minimum != std::end(kMin) ? minimum->value : INT64_MAX;
    // Strides of windows must be positive. Strides of memory and the padding of windows must not be
    // negative.
    const bool windows =
        call.name.find("pool") != call.name.npos || call.name.find("convolution") != call.name.npos;
    if (argument.name == "stride") lowest = windows ? 1 : 0;
    if (argument.name == "padding" && windows) lowest = 0;
    if (lowest == INT64_MAX || call.name.starts_with("aten::arange")) return;
    const Argument original = argument;
    for (const int64_t number : {lowest - 1, int64_t{-2}, INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
      if (argument.name == "step" && number == INT64_MAX)
        continue;  // a step may be arbitrarily large
      if (argument.kind == Kind::kInt) {
        argument.integer = number;
        EXPECT_TRUE(is_rejected(call));
        ++calls;
      }
      for (size_t i = 0; i < argument.ints.size(); ++i) {
        argument.ints[i] = number;
        EXPECT_TRUE(is_rejected(call));
        argument = original;
        ++calls;
      }
    }
  });
  EXPECT_GT(calls, 250u);
}

TEST(KernelErrors, RejectsMismatchedShapes) {
  size_t calls = 0;
  for_each_argument([&](OpCall& call, Argument& argument) {
    if (argument.output || !argument.is_tensor()) return;
    constexpr std::string_view kNames =
        " other mask exponent mat1 mat2 weight bias min max src grad_output "
        "grid b x2 values running_mean running_var copy_from scales weight_scales "
        "weight_zero_points zero_points ";
    if (kNames.find(" " + argument.name + " ") == kNames.npos) return;
    if (call.name.starts_with("aten::pow.Scalar") || argument.sizes.empty()) return;
    if (call.name.starts_with("aten::embedding") ||
        (argument.name == "weight" && call.name.find("embedding") != call.name.npos)) {
      return;  // the weight may have any shape
    }
    // scatter does not read elements of src beyond the sizes of the index, so src may have other
    // sizes.
    if (argument.name == "src" && call.name.starts_with("aten::scatter")) return;
    // These sizes do not broadcast to the shapes of the other arguments.
    for (const std::vector<int32_t>& sizes :
         {std::vector<int32_t>{7}, {7, 5}, {5, 7, 5}, {3, 5, 7, 5}}) {
      argument.sizes = sizes;
      EXPECT_TRUE(is_rejected(call));
      ++calls;
    }
  });
  EXPECT_GT(calls, 200u);
}

TEST(KernelErrors, RejectsStaticOutputWithADifferentShape) {
  size_t calls = 0;
  for_each_argument([&](OpCall& call, Argument& argument) {
    const auto reject = [&](Argument& tensor) {
      tensor.is_static = true;
      tensor.sizes.push_back(7);
      EXPECT_TRUE(is_rejected(call));
      tensor.sizes.pop_back();
      if (tensor.sizes.empty()) return;
      tensor.sizes.back() += 1;
      EXPECT_TRUE(is_rejected(call));
      ++calls;
    };
    if (!argument.output) return;
    if (argument.is_tensor()) reject(argument);
    for (Argument& item : argument.items) {
      const Argument original = item;
      reject(item);
      item = original;
    }
  });
  EXPECT_GT(calls, 200u);
}

TEST(KernelErrors, RejectsValueOfTheWrongKind) {
  for_each_argument([&](OpCall& call, Argument& argument) {
    if (call.name == "executorch_prim::sym_ite.Scalar" && argument.kind != Kind::kBool) {
      return;  // read only if the condition selects it
    }
    const Argument original = argument;
    for (const char* text : {"'text'", "[0.5]", "2", "f32[2]"}) {
      argument = parsed(text);
      // A kernel may accept an int in place of a float, a bool or a dtype.
      const bool number = argument.kind == Kind::kInt &&
                          (original.kind == Kind::kInt || original.kind == Kind::kDouble ||
                           original.kind == Kind::kBool || original.kind == Kind::kScalarType);
      if (number || argument.kind == original.kind || original.kind == Kind::kNone) continue;
      EXPECT_TRUE(is_rejected(call));
    }
  });
}

// If the output is also an input, resizing it would change an input that the kernel still needs.
TEST(KernelErrors, RejectsAnInputAsOutputIfTheirShapesDiffer) {
  for (const auto& [name, arguments] : std::vector<std::pair<const char*, const char*>>{
           {"quantized_decomposed::mixed_mm.out",
            "input=!f32[2,3] weight=i8[3,4] weight_scales=f32[3] weight_zero_points=none out=none"},
           {"aten::pixel_unshuffle.out", "self=!f32[1,4,2,2] downscale_factor=2 out=none"}}) {
    OpCall call{name, ArgumentParser(arguments).arguments()};
    call.arguments.front().roomy = true;
    call.arguments.back().kind = Kind::kSame;  // the same as argument 0
    EXPECT_TRUE(
        fails(run_checked(call), ErrorCode::kInvalidProgram, "is also an input of the operator"))
        << call.text();
  }
  KernelCall call;
  Tensor& out = call.make(ScalarType::kFloat, {4, 3}, {}, ShapeDynamism::kDynamicBound);
  ASSERT_TRUE(out.resize(std::vector<int32_t>{1, 3}).ok());
  EXPECT_TRUE(fails(call.run("aten::cat.out", call.tensors({&out, &out}), 0, out),
                    ErrorCode::kInvalidProgram, "is also an input of the operator"));
  // The output may be the input if the result has the input's shape.
  EXPECT_TRUE(succeeds(call.run("aten::relu.out", out, out)));
}

TEST(KernelErrors, RejectsTensorWithoutMemory) {
  for_each_argument([&](OpCall& call, Argument& argument) {
    if (!argument.is_tensor() || call.name.starts_with("aten::sym_")) return;
    if (call.name == "executorch_prim::et_view.default" && argument.output)
      return;  // the kernel sets it
    if (call.name.starts_with("llama::update_cache") && argument.name == "out") return;  // unused
    argument.no_memory = true;
    EXPECT_TRUE(is_rejected(call));
    argument.no_memory = false;
    argument.read_only = true;
    if (argument.output) {
      EXPECT_TRUE(is_rejected(call));
    }
  });
}

}  // namespace
}  // namespace vitrine::test
