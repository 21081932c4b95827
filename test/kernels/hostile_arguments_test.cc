// Calls every kernel with all kinds of arguments that a program may contain. The kernel must
// return, and report an Error if the call is invalid. It must access only its arguments, and use
// little memory and time. Most violations are only found under AddressSanitizer and
// UndefinedBehaviorSanitizer.

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

// The sanitizers' runtime provides this function; without sanitizers, it is null.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace vitrine::test {
namespace {

constexpr int kRandomCalls = 250;  // random calls for each call of op_arguments.inc

OpCall call_of(std::string_view name, std::string_view arguments) {
  return {name, ArgumentParser(arguments).arguments()};
}

TEST(HostileArguments, TestCallsCoverEveryKernel) {
  std::set<std::string_view> named;
  for (const OpCall& call : op_calls()) {
    EXPECT_TRUE(kernels_by_name().contains(call.name)) << "no kernel " << call.name;
    named.insert(call.name);
  }
  for (const auto& [name, kernel] : kernels_by_name()) {
    EXPECT_TRUE(named.contains(name)) << "add a call of " << name << " to op_arguments.inc";
  }
}

TEST(HostileArguments, EveryUnchangedCallSucceeds) {
  for (const OpCall& call : op_calls()) EXPECT_TRUE(succeeds(run_checked(call))) << call.text();
}

// A tensor with a size of 0 needs no memory, however large its other sizes are.
TEST(HostileArguments, EmptyTensorsWithLargeSizesTakeLittleTime) {
  const OpCall calls[] = {
      call_of("aten::convolution.out",
              "input=f32[1073741824,0,1] weight=f32[0,0,1] bias=none stride=[1] padding=[0] "
              "dilation=[1] transposed=false output_padding=[0] groups=1073741824 "
              "out=!f32[1073741824,0,1]"),
      call_of("aten::convolution.out",
              "input=f32[1,0,268435456,1073741824] weight=f32[0,0,1,1] bias=none stride=[1] "
              "padding=[0] dilation=[1] transposed=false output_padding=[0] groups=1 "
              "out=!f32[1,0,268435456,1073741824]"),
      call_of("aten::convolution_backward.out",
              "grad_output=f32[1,1,1,1] input=f32[1,1,2147483647,0] weight=f32[1,1,1,1000000] "
              "bias_sizes=none stride=[1,1] padding=[1073741823,499999] dilation=[1,1] "
              "transposed=true output_padding=[0,0] groups=1 output_mask=[false,true,false] "
              "out0=!f32[0] out1=!f32[1,1,1,1000000] out2=!f32[0]"),
      call_of("aten::bmm.out",
              "self=f64[536870912,0,0] mat2=f64[536870912,0,536870912] "
              "out=!f64[536870912,0,536870912]"),
      call_of("aten::index.Tensor_out",
              "self=f32[1,1,1,0] indices=?(i64[2000,1,1]{0},i64[1,1000,1]{0},i64[1,1,1000]{0}) "
              "out=!f32[2000,1000,1000,0]"),
      call_of("aten::_native_batch_norm_legit_no_training.out",
              "input=f32[1073741824,10000,0] weight=none bias=none running_mean=f32[10000] "
              "running_var=f32[10000] momentum=0.1 eps=0.001 out0=!f32[1073741824,10000,0] "
              "out1=!f32[0] out2=!f32[0]"),
      call_of("quantized_decomposed::quantize_per_channel.out",
              "input=f32[1073741824,10000,0] scales=f64[10000] zero_points=i64[10000] axis=1 "
              "quant_min=-128 quant_max=127 dtype=@i8 out=!i8[1073741824,10000,0]"),
      call_of("aten::grid_sampler_2d.out",
              "input=f32[268435456,0,1,1] grid=f32[268435456,268435456,0,2] interpolation_mode=0 "
              "padding_mode=0 align_corners=false out=!f32[268435456,0,268435456,0]"),
      call_of("aten::_cdist_forward.out",
              "x1=f32[268435456,268435456,0,1] x2=f32[1,1,0,1] p=2.0 compute_mode=0 "
              "out=!f32[268435456,268435456,0,0]"),
      call_of("quantized_decomposed::mixed_linear.out",
              "input=f32[2147483647,0] weight=i8[0,0] weight_scales=f32[0] "
              "weight_zero_points=none dtype=@f32 out=!f32[2147483647,0]"),
      call_of("aten::max_pool2d_with_indices_backward.grad_input",
              "grad_output=f32[0,2,2,2] self=f32[0,2,4,4] kernel_size=[2,2] stride=[2,2] "
              "padding=[0,0] dilation=[1,1] ceil_mode=false indices=i64[0,2,2,2] "
              "grad_input=!f32[0,2,4,4]"),
      call_of("llama::channelwise_gated_delta_rule.out",
              "query=f32[1,2,3,0] key=f32[1,2,3,0] value=f32[1,2,3,128] decay=f32[1,2,3,0] "
              "beta=f32[1,2,3] initial_state=f32[1,2,0,128] out=!f32[1,2,3,128] "
              "final_state_out=!f32[1,2,0,128]")};
  for (OpCall call : calls) {
    for_tensors(call.arguments, [](Argument& tensor) {
      tensor.no_memory = std::ranges::find(tensor.sizes, 0) != tensor.sizes.end();
    });
    EXPECT_TRUE(succeeds(run_checked(call))) << call.text();
  }
}

// The indices and values need little memory even though they select a huge number of elements, so a
// limit on memory does not stop this call.
TEST(HostileArguments, RejectsIndicesThatBroadcastToTooManyElements) {
  const OpCall call = call_of(
      "aten::index_put_",
      "self=!f32[1,1,1,1] indices=?(i64[2000,1,1,1]{0},i64[1,2000,1,1]{0},i64[1,1,2000,1]{0},"
      "i64[1,1,1,2000]{0}) values=f32[] accumulate=false");
  EXPECT_EQ(run_checked(call).code(), ErrorCode::kInvalidArgument);
}

// The call passes one of the caches as `out` too. The query has 0 heads, so the result is empty.
// Without a check, the kernel would resize the cache to the shape of the result.
TEST(HostileArguments, AttentionRejectsCacheAsOutput) {
  for (const int64_t cache : {3, 4}) {
    OpCall call = call_of("llama::sdpa_with_kv_cache.out",
                          "query=f32[2,1000,0,1024] key=f32[2,1,1,1024] value=f32[2,1,1,1024] "
                          "key_cache=!f32[2,1,1,1024] value_cache=!f32[2,1,1,1024] start_pos=0 "
                          "seq_len=1 attn_mask=f32[1000,1] drpout_p=0.0 is_causal=false "
                          "scale=none out=!f32[2,1,1,1024]");
    call.arguments.back().kind = Argument::Kind::kSame;
    call.arguments.back().integer = cache;
    EXPECT_EQ(run_checked(call).code(), ErrorCode::kInvalidArgument);
  }
}

TEST(HostileArguments, OverlappingCallsCoverEveryListItem) {
  using Pairs = std::set<std::pair<size_t, size_t>>;
  for (const OpCall& call : op_calls()) {
    if (std::ranges::none_of(call.arguments, &Argument::is_list_of_tensors)) continue;
    // Lists all pairs of tensors in which the call writes at least one of the two. Tensors are
    // numbered across all arguments of the call.
    std::vector<bool> written;
    for (const Argument& argument : call.arguments) {
      for (const Argument& tensor : argument.tensors()) {
        if (tensor.is_tensor()) written.push_back(tensor.output);
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
      const ArgumentValues values(overlapping.arguments);
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

TEST_P(HostileCall, SurvivesOneHostileArgument) {
  const Mutator mutator(sample().arguments);
  for (size_t i = 0; i < sample().arguments.size(); ++i) {
    for (Argument& variant : mutator.variants(i)) {
      OpCall call = sample();
      call.arguments[i] = std::move(variant);
      (void)run_checked(call);
    }
  }
}

// Gives all tensors of one shape the same new shape, so that checks for equal shapes pass.
TEST_P(HostileCall, SurvivesTheSameHostileShapeInSeveralTensors) {
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

TEST_P(HostileCall, SurvivesSeveralHostileArguments) {
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

// Shrinks outputs to the shape of the result, so that sanitizers find writes past the last element.
void fit_outputs(OpCall& call) {
  ArgumentValues values(call.arguments);
  Budget budget(kMaxTemp);
  HeapArena temp(1, &budget);
  if (!values.call(*kernels_by_name().at(call.name), temp).ok()) return;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.arguments[i].output && call.arguments[i].is_tensor()) {
      call.arguments[i].sizes = values.sizes_of(i);
    }
  }
}

TEST_P(HostileCall, SurvivesOverlappingMemory) {
  const Number zero = Number::of(int64_t{0});
  const Number one = Number::of(int64_t{1});
  const Number minus_zero = Number::of(-0.0);  // as a float, it has the bits of the minimum integer
  for (const auto& elements :
       {std::vector<Number>{}, {one, zero, zero, zero}, std::vector<Number>{minus_zero}}) {
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

// Returns the indices in op_calls() of the calls that this run tests: all calls, or only calls to
// optimized kernels.
std::vector<size_t> calls_of_this_run() {
  std::set<std::string_view> optimized;
  for (const Kernel* kernel : optimized::kernels().kernels) optimized.insert(kernel->name);
  std::vector<size_t> result;
  for (size_t i = 0; i < op_calls().size(); ++i) {
    if (!tests_optimized_kernels() || optimized.contains(op_calls()[i].name)) result.push_back(i);
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

INSTANTIATE_TEST_SUITE_P(AllKernels, HostileCall, testing::ValuesIn(calls_of_this_run()),
                         test_name);

}  // namespace
}  // namespace vitrine::test
