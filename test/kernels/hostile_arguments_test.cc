// Calls every kernel with all kinds of arguments that a program may hold. It must return (with an
// Error if the call is wrong), access only its arguments, and use little memory and time. Most of
// this only shows under AddressSanitizer and UndefinedBehaviorSanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/argument_values.h"
#include "test/kernels/hostile_calls.h"
#include "test/kernels/hostile_values.h"

// Of the sanitizers, where they are.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace vitrine::test {
namespace {

constexpr int kRandomCalls = 250;  // for each line of the table

TEST(HostileArguments, EveryKernelHasALine) {
  std::set<std::string_view> named;
  for (const OpCall& call : op_calls()) {
    EXPECT_TRUE(kernels_by_name().contains(call.name)) << "no kernel " << call.name;
    named.insert(call.name);
  }
  for (const auto& [name, kernel] : kernels_by_name()) {
    EXPECT_TRUE(named.contains(name)) << "op_arguments.inc has no line for " << name;
  }
}

TEST(HostileArguments, TheTableIsRight) {
  for (const OpCall& call : op_calls()) EXPECT_TRUE(succeeds(run_checked(call))) << call.text();
}

TEST(HostileArguments, EachItemOfAListIsOverlapped) {
  using Pairs = std::set<std::pair<size_t, size_t>>;
  for (const OpCall& call : op_calls()) {
    if (std::ranges::none_of(call.arguments, &Argument::is_list_of_tensors)) continue;
    // Every tensor that is written with every other one, numbered through.
    std::vector<bool> written;
    for (const Argument& argument : call.arguments) {
      for (const Argument& each : argument.tensors()) {
        if (each.is_tensor()) written.push_back(each.output);
      }
    }
    Pairs expected;
    for (size_t a = 0; a < written.size(); ++a) {
      for (size_t b = a + 1; b < written.size(); ++b) {
        if (written[a] || written[b]) expected.emplace(a, b);
      }
    }
    Pairs found;
    for_overlaps(call, [&](const OpCall& overlapping) {
      const Values values(overlapping.arguments);
      std::vector<std::span<const std::byte>> memory;
      for (size_t i = 0; i < overlapping.arguments.size(); ++i) {
        for (size_t item = 0; item < overlapping.arguments[i].tensors().size(); ++item) {
          const Tensor* tensor = values.tensor_at(i, item);
          if (tensor == nullptr) continue;
          memory.emplace_back(static_cast<const std::byte*>(tensor->raw_data()), tensor->nbytes());
        }
      }
      for (size_t a = 0; a < memory.size(); ++a) {
        for (size_t b = a + 1; b < memory.size(); ++b) {
          if (std::max(memory[a].data(), memory[b].data()) <
              std::min(memory[a].data() + memory[a].size(), memory[b].data() + memory[b].size())) {
            found.emplace(a, b);
          }
        }
      }
    });
    EXPECT_EQ(found, expected) << call.text();
  }
}

class HostileCall : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (__sanitizer_set_death_callback != nullptr) {
      __sanitizer_set_death_callback(print_current_call);
    }
  }
  const OpCall& sample() const { return op_calls()[GetParam()]; }
};

TEST_P(HostileCall, OneArgument) {
  const Mutator mutator(sample().arguments);
  for (size_t i = 0; i < sample().arguments.size(); ++i) {
    for (Argument& variant : mutator.variants(i)) {
      OpCall call = sample();
      call.arguments[i] = std::move(variant);
      (void)run_checked(call);
    }
  }
}

// Tensors of one shape become tensors of another one, together: past the checks of shapes.
TEST_P(HostileCall, OneShape) {
  std::set<std::vector<int32_t>> olds;
  OpCall call = sample();
  for_tensors(call.arguments, [&](Argument& tensor) { olds.insert(tensor.sizes); });
  for (const std::vector<int32_t>& old : olds) {
    for (const std::vector<int32_t>& sizes : hostile_shapes(old)) {
      call = sample();
      for_tensors(call.arguments, [&](Argument& tensor) {
        if (tensor.sizes == old) tensor.sizes = sizes;
      });
      (void)run_checked(call);
    }
  }
}

TEST_P(HostileCall, SeveralArguments) {
  if (sample().arguments.size() < 2) return;
  const Mutator mutator(sample().arguments);
  std::vector<std::vector<Argument>> variants;
  for (size_t i = 0; i < sample().arguments.size(); ++i) variants.push_back(mutator.variants(i));
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  for (int i = 0; i < kRandomCalls; ++i) {
    OpCall call = sample();
    for (auto n = random() % 3; n > 0; --n) {
      const size_t index = random() % call.arguments.size();
      call.arguments[index] = variants[index][random() % variants[index].size()];
    }
    change_jointly(call.arguments, random);
    (void)run_checked(call);
  }
}

// Outputs become no larger than what the call fills, so that one element more is one too many.
void fit_outputs(OpCall& call) {
  Values values(call.arguments);
  Budget budget(kMaxTemp);
  HeapArena temp(1, &budget);
  if (!values.call(*kernels_by_name().at(call.name), temp).ok()) return;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.arguments[i].output && call.arguments[i].is_tensor()) {
      call.arguments[i].sizes = values.sizes_of(i);
    }
  }
}

TEST_P(HostileCall, OverlappingMemory) {
  const Number zero = Number::of(int64_t{0});
  const Number one = Number::of(int64_t{1});
  const Number minus_zero = Number::of(-0.0);  // in floats the bits of the smallest integer
  for (const auto& elements :
       {std::vector<Number>{}, {one, zero, zero, zero}, {zero}, std::vector<Number>{minus_zero}}) {
    OpCall call = sample();
    for_tensors(call.arguments, [&](Argument& tensor) {
      if (tensor.elements.empty() && !tensor.output) tensor.elements = elements;
    });
    for (const bool fitting : {false, true}) {
      if (fitting) fit_outputs(call);
      for_overlaps(call, [](const OpCall& overlapping) { (void)run_checked(overlapping); });
    }
  }
}

// Indices of lines: all, or those whose kernel the other run does not reach.
std::vector<size_t> lines_of_this_run() {
  std::set<std::string_view> optimised;
  for (const Kernel* kernel : optimized::kernels().kernels) optimised.insert(kernel->name);
  std::vector<size_t> result;
  for (size_t i = 0; i < op_calls().size(); ++i) {
    if (!of_optimised_kernels() || optimised.contains(op_calls()[i].name)) result.push_back(i);
  }
  return result;
}

std::string test_name(const testing::TestParamInfo<size_t>& info) {
  std::string name = std::to_string(info.param);
  for (const char c : op_calls()[info.param].name) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllKernels, HostileCall, testing::ValuesIn(lines_of_this_run()),
                         test_name);

}  // namespace
}  // namespace vitrine::test
