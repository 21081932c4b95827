#include "vitrine/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "test/support/corpus.h"
#include "test/support/program_builder.h"
#include "test/support/read_text.h"
#include "test/support/results.h"

namespace vitrine {
namespace {

using test::read_floats;
using test::sample;
using testing::HasSubstr;
using testing::Pointwise;

MATCHER(IsNear, "") {
  const float wanted = std::get<1>(arg);
  return std::abs(std::get<0>(arg) - wanted) <= 1e-4F + 1e-4F * std::abs(wanted);
}

Module load(const std::string& name, ModuleOptions options = {}) {
  return test::require(Module::load(sample(name + "/model.pte").c_str(), std::move(options)));
}

Array array_of(const std::string& file, Sizes sizes) {
  return test::require(Array::copy_of<float>(read_floats(sample(file)), sizes));
}

std::vector<float> floats_of(const Value& value) {
  const auto data = value.array()->data<float>();
  return {data->begin(), data->end()};
}

// Calls the method with the sample's input, and compares the output with PyTorch's.
void expect_pytorch(Module& module, const std::string& name) {
  const TensorInfo info = module.method_meta("forward")->input_tensor(0);
  const auto outputs = test::require(module.forward({array_of(name + "/input_0.bin", info.sizes)}));
  EXPECT_THAT(floats_of(outputs.at(0)),
              Pointwise(IsNear(), read_floats(sample(name + "/expected_0.bin"))))
      << name;
}

TEST(Module, MatchesPyTorch) {
  for (const std::string name : {"digits_portable", "digits_xnnpack", "mv2_025_xnnpack"}) {
    Module module = load(name);
    expect_pytorch(module, name);
  }
  Module portable = load("digits_portable", {.threads = 1, .optimized_kernels = false});
  expect_pytorch(portable, "digits_portable");
}

TEST(Module, OutputsOutliveTheNextCallAndTheModule) {
  std::vector<Value> first;
  {
    Module module = load("digits_xnnpack");
    const TensorInfo info = module.method_meta("forward")->input_tensor(0);
    first = test::require(module.forward({array_of("digits_xnnpack/input_0.bin", info.sizes)}));
    ASSERT_TRUE(module.forward({array_of("digits_xnnpack/input_0_c1.bin", info.sizes)}).ok());
  }
  EXPECT_THAT(floats_of(first[0]),
              Pointwise(IsNear(), read_floats(sample("digits_xnnpack/expected_0.bin"))));
}

TEST(Module, MethodsShareTheStateOfTheProgram) {
  test::ProgramBuilder builder;
  for (const char* name : {"add_one", "add_two"}) {
    test::MethodSpec& method = builder.method(name);
    method.buffer_sizes = {0, 16, 16};
    const int x = method.tensor({.sizes = {1}, .planned = test::Planned{1, 0}});
    const int state = method.tensor({.sizes = {1}, .planned = test::Planned{2, 0}});
    method.inputs = {x};
    method.outputs = {state};
    method.kernel_call(method.op("aten::add", "out"), {state, x, method.integer(1), state, state});
  }
  const test::AlignedBytes file = builder.build();
  auto module = test::require(Module::load(file));
  const auto add = [&](const char* name, float value) {
    const Array x = *Array::copy_of<float>({&value, 1}, {1});
    return floats_of(test::require(module.call(name, {x})).at(0))[0];
  };
  EXPECT_EQ(add("add_one", 1), 1);
  EXPECT_EQ(add("add_two", 2), 3);
  EXPECT_EQ(add("add_one", 1), 4);
}

TEST(Module, AcceptsChangingSizes) {
  Module module = load("dynamic_batch_xnnpack");
  const TensorInfo info = module.method_meta("forward")->input_tensor(0);
  const auto width = static_cast<size_t>(info.sizes[1]);
  for (const std::string call : {"", "_c1", "_c2"}) {
    const std::string folder = "dynamic_batch_xnnpack/";
    const auto rows = read_floats(sample(folder + "input_0" + call + ".bin")).size() / width;
    const auto outputs = test::require(module.forward({array_of(
        folder + "input_0" + call + ".bin", {static_cast<int32_t>(rows), info.sizes[1]})}));
    EXPECT_THAT(floats_of(outputs.at(0)),
                Pointwise(IsNear(), read_floats(sample(folder + "expected_0" + call + ".bin"))));
  }
}

TEST(Module, ReportsInvalidCallsAndStaysUsable) {
  Module module = load("add_mul");
  EXPECT_EQ(module.num_methods(), 1U);
  EXPECT_EQ(module.method_name(0), "forward");
  const TensorInfo info = module.method_meta("forward")->input_tensor(0);
  const Array x = array_of("add_mul/input_0.bin", info.sizes);
  const Array y = array_of("add_mul/input_1.bin", info.sizes);
  const auto message = [&](std::initializer_list<Value> inputs, const char* method = "forward") {
    return std::string(module.call(method, inputs).take_error().message());
  };
  EXPECT_THAT(message({x}), HasSubstr("forward: the method has 2 inputs, got 1"));
  EXPECT_THAT(message({x, 3}), HasSubstr("forward: input 1 must be of kind Tensor, got Int"));
  EXPECT_THAT(message({x, Value()}), HasSubstr("input 1 must be of kind Tensor, got None"));
  EXPECT_THAT(message({x, Array()}), HasSubstr("input 1 is an empty array"));
  EXPECT_THAT(message({x, *Array::zeros(ScalarType::kInt, info.sizes)}),
              HasSubstr("input 1 must have dtype f32, got i32"));
  EXPECT_THAT(message({x, *Array::zeros(ScalarType::kFloat, {1, 2, 3, 4, 5})}),
              HasSubstr("input 1"));
  EXPECT_THAT(message({x, y}, "backward"), HasSubstr("backward"));
  const auto outputs = test::require(module.forward({x, y}));
  EXPECT_THAT(floats_of(outputs.at(0)),
              Pointwise(IsNear(), read_floats(sample("add_mul/expected_0.bin"))));
}

static_assert(!std::is_constructible_v<Value, float*>);
static_assert(!std::is_constructible_v<Value, const void*>);
static_assert(!std::is_constructible_v<Value, void (*)()>);

TEST(Value, KindFollowsTheConstructorArgument) {
  EXPECT_TRUE(Value(static_cast<const char*>(nullptr)).is_none());
  char text[] = "abc";
  char* const pointer = text;
  EXPECT_EQ(*Value(pointer).string(), "abc");
  EXPECT_EQ(*Value(size_t{3}).integer(), 3);
  EXPECT_EQ(*Value(uint32_t{4000000000}).integer(), 4000000000);
  EXPECT_EQ(*Value(3L).integer(), 3);
  EXPECT_EQ(*Value(3LL).integer(), 3);
  EXPECT_EQ(*Value(0.5F).real(), 0.5);
  EXPECT_TRUE(*Value(true).boolean());
}

// A method that accepts only the inputs 7, 0.5, true and "exactly this".
test::AlignedBytes program_of_constants() {
  test::ProgramBuilder builder;
  test::MethodSpec& method = builder.method("forward");
  method.inputs = {method.integer(7), method.real(0.5), method.boolean(true),
                   method.string("exactly this")};
  method.outputs = {method.integer(3)};
  return builder.build();
}

TEST(Module, ErrorNamesTheExpectedValue) {
  const test::AlignedBytes file = program_of_constants();
  auto module = test::require(Module::load(file));
  const auto message = [&](std::initializer_list<Value> inputs) {
    const auto outputs = module.forward(inputs);
    EXPECT_EQ(outputs.error().code(), ErrorCode::kInvalidArgument);
    return std::string(outputs.error().message());
  };
  EXPECT_THAT(message({8, 0.5, true, "exactly this"}), HasSubstr("input 0 was fixed when"));
  EXPECT_THAT(message({8, 0.5, true, "exactly this"}), HasSubstr("; it must be 7"));
  EXPECT_THAT(message({7, 1.5, true, "exactly this"}), HasSubstr("; it must be 0.5"));
  EXPECT_THAT(message({7, 0.5, false, "exactly this"}), HasSubstr("; it must be true"));
  EXPECT_THAT(message({7, 0.5, true, "else"}), HasSubstr("; it must be \"exactly this\""));
  const std::vector<Value> right = {size_t{7}, 0.5, true, "exactly this"};
  const auto outputs = test::require(module.forward(right));
  EXPECT_EQ(*outputs.at(0).integer(), 3);
}

TEST(Module, ErrorNamesTheAcceptedSizes) {
  Module module = load("dynamic_batch_xnnpack");
  const TensorInfo info = module.method_meta("forward")->input_tensor(0);
  const int32_t rows = info.sizes[0];
  const int32_t width = info.sizes[1];
  const auto error = [&](Sizes sizes) {
    const auto outputs = module.forward({*Array::zeros(ScalarType::kFloat, sizes)});
    EXPECT_EQ(outputs.error().code(), ErrorCode::kInvalidArgument);
    return std::string(outputs.error().message());
  };
  ASSERT_TRUE(module.forward({*Array::zeros(ScalarType::kFloat, {1, width})}).ok());
  const std::string bound = "[" + std::to_string(rows) + "," + std::to_string(width) + "]";
  EXPECT_THAT(error({rows + 1, width}), HasSubstr("; the program accepts at most " + bound));
  // If an input has dynamic sizes, the module checks only the bound. The delegate therefore detects
  // that these sizes do not match. The error must blame the call, not the program.
  const std::string inside = error({1, width - 1});
  EXPECT_THAT(inside, HasSubstr("for the sizes of this call"));
  EXPECT_THAT(inside, testing::StartsWith("forward, chain 0"));
}

TEST(Module, RejectsSizesThatDifferFromAStaticShape) {
  Module module = load("linear_relu");
  const TensorInfo info = module.method_meta("forward")->input_tensor(0);
  std::vector<int32_t> sizes(info.sizes.begin(), info.sizes.end());
  sizes.back() += 1;
  EXPECT_THAT(module.forward({*Array::zeros(ScalarType::kFloat, sizes)}),
              test::FailsWith(ErrorCode::kNotSupported, HasSubstr("forward: input 0: ")));
}

TEST(Module, MovedFromModuleReportsErrors) {
  Module module = load("add_mul");
  EXPECT_EQ(module.method_name(1), "");
  const Module kept = std::move(module);
  // NOLINTBEGIN(bugprone-use-after-move): the test uses a moved-from object
  EXPECT_EQ(module.num_methods(), 0U);
  EXPECT_EQ(module.method_name(0), "");
  EXPECT_EQ(module.method_meta("forward").error().code(), ErrorCode::kInvalidState);
  EXPECT_EQ(module.load_method("forward").code(), ErrorCode::kInvalidState);
  EXPECT_EQ(module.forward({}).error().code(), ErrorCode::kInvalidState);
  EXPECT_TRUE(module.warning().ok());
  EXPECT_EQ(module.memory_usage().planned, 0U);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Module, ReturnsNoDescriptionForAnInputOutOfRange) {
  Module module = load("add_mul");
  const auto meta = module.method_meta("forward");
  EXPECT_EQ(meta->input_tag(2), EValue::Tag::kNone);
  EXPECT_EQ(meta->output_tag(7), EValue::Tag::kNone);
  EXPECT_TRUE(meta->input_tensor(2).sizes.empty());
  EXPECT_EQ(meta->output_tensor(7).nbytes, 0U);
  const test::AlignedBytes file = program_of_constants();
  EXPECT_EQ(Module::load(file)->method_meta("forward")->input_tensor(0).nbytes, 0U);
}

TEST(Module, RejectsOptionsOfUnknownBackends) {
  EXPECT_THAT(
      Module::load(sample("add_mul/model.pte").c_str(),
                   {.backend_options = {{"XnnpackBackend", "weight_sharing", true},
                                        {"xnnpack", "x", true}}}),
      test::FailsWith(ErrorCode::kInvalidArgument,
                      HasSubstr("backend_options[1]: this build has no backend xnnpack; it has "
                                "XnnpackBackend")));
}

TEST(Module, EnforcesLimits) {
  const auto refusal = [](const MethodLimits& limits) {
    Module module = load("digits_portable", {.threads = 1, .limits = limits});
    auto outputs = module.forward({array_of("digits_portable/input_0.bin", {1, 1, 8, 8})});
    return std::string(outputs.take_error().message());
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.max_memory_bytes = 1 << 20,
                     .max_load_steps = 1'000'000,
                     .max_instructions_per_run = 1000}),
            "");
  EXPECT_THAT(refusal({.max_memory_bytes = 10'000}),
              HasSubstr("of the 10000 bytes that max_memory_bytes allows"));
  EXPECT_THAT(refusal({.max_load_steps = 10}), HasSubstr("more than 10 steps (max_load_steps)"));
  EXPECT_THAT(refusal({.max_instructions_per_run = 1}),
              HasSubstr("stopped after 1 instructions (max_instructions_per_run)"));
}

// Calls `forward` of the sample endless_loop with the input `ends`. If `ends` is false, the method
// loops forever.
Result<std::vector<Value>> call_loop(Module& module, bool ends) {
  auto input = Array::zeros(ScalarType::kBool, Sizes{1});
  *input->mutable_data<bool>()->data() = ends;
  return module.forward({std::move(*input)});
}

TEST(Module, RejectsUnwrittenOutputsUnlessOptionAcceptsThem) {
  constexpr const char* kMessage = "outputs[1]: no instruction writes it";
  Module strict = load("lost_output");
  EXPECT_THAT(strict.load_method("forward").message(), HasSubstr(kMessage));
  Module lenient = load("lost_output", {.accept_unwritten_outputs = true});
  EXPECT_TRUE(lenient.load_method("forward").ok());
  EXPECT_THAT(lenient.warning().message(), HasSubstr(kMessage));
}

TEST(Module, EndsCallsAtTheDeadline) {
  Module module =
      load("endless_loop",
           {.threads = 1,
            .limits = {.max_instructions_per_run = UINT64_MAX, .max_milliseconds_per_run = 1500}});
  EXPECT_THAT(call_loop(module, false),
              test::FailsWith(ErrorCode::kOutOfResources, HasSubstr("max_milliseconds_per_run")));
  // This call ends by itself, but on a very slow machine it can exceed the time limit.
  EXPECT_EQ(*test::require(call_loop(module, true)).at(0).integer(), 7);
}

TEST(Module, CancelEndsTheCallInProgress) {
  Module module =
      load("endless_loop", {.threads = 1, .limits = {.max_instructions_per_run = UINT64_MAX}});
  std::atomic<bool> has_ended = false;
  std::thread other([&] {
    while (!has_ended) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      module.cancel();
    }
  });
  EXPECT_EQ(call_loop(module, false).error().code(), kCanceled);
  has_ended = true;
  other.join();
  EXPECT_EQ(*call_loop(module, true)->at(0).integer(), 7);
}

// Each method's own memory is within the limit. The shared state is charged separately.
TEST(Module, LimitsMemoryOfSharedState) {
  test::ProgramBuilder builder;
  for (const char* name : {"forward", "second"}) {
    test::MethodSpec& method = builder.method(name);
    method.buffer_sizes = {0, 64, 1 << 20};
    method.outputs = {method.tensor({.sizes = {2}, .planned = test::Planned{2, 0}})};
  }
  const test::AlignedBytes file = builder.build();
  const auto refusal = [&](uint64_t bytes) {
    auto module = Module::load(file, {.threads = 1, .limits = {.max_memory_bytes = bytes}});
    return std::string(module->forward({}).take_error().message());
  };
  EXPECT_EQ(refusal(0), "");
  EXPECT_EQ(refusal(1 << 20), "");
  EXPECT_THAT(refusal((1 << 20) - 1), HasSubstr("no memory for the 1048576 bytes that the methods "
                                                "share; max_memory_bytes allows 1048575"));
}

TEST(Module, CopiesBackendOptions) {
  std::string key = "workspace_sharing_mode";
  std::string backend = "XnnpackBackend";
  Module module = load("digits_xnnpack", {.backend_options = {{backend, key, int64_t{7}}}});
  key.assign(key.size(), 'x');
  backend.assign(backend.size(), 'x');
  EXPECT_THAT(module.load_method("forward"),
              test::FailsWith(ErrorCode::kInvalidArgument,
                              testing::AllOf(HasSubstr("XnnpackBackend"),
                                             HasSubstr("option workspace_sharing_mode must be 0 "
                                                       "(none), "),
                                             HasSubstr(", got 7"))));
}

TEST(Module, ReportsWarningsAndMemory) {
  const std::string folder = sample("digits_xnnpack");  // a folder, not a file
  Module module = load(
      "digits_xnnpack",
      {.backend_options = {{"XnnpackBackend", "packed_cache_path", std::string_view(folder)}}});
  EXPECT_TRUE(module.warning().ok());
  EXPECT_EQ(module.memory_usage().metadata, 0U);
  ASSERT_TRUE(module.load_method("forward").ok());
  EXPECT_THAT(module.warning().message(), HasSubstr(folder));
  EXPECT_GT(module.memory_usage().metadata, 0U);
  Module well = load("digits_xnnpack");
  ASSERT_TRUE(well.load_method("forward").ok());
  EXPECT_TRUE(well.warning().ok());
}

TEST(Module, ErrorNamesTheFormatOfAFileThatIsNotAProgram) {
  const auto message = [](std::string_view head, size_t at) {
    test::AlignedBytes file(256);
    std::memcpy(file.data() + at, head.data(), head.size());
    const auto module = Module::load(file);
    EXPECT_EQ(module.error().code(), ErrorCode::kInvalidProgram);
    return std::string(module.error().message());
  };
  EXPECT_THAT(message("PK\x03\x04", 0), HasSubstr("(.pt2); lower it with pte_lower"));
  EXPECT_THAT(message("BP08", 4), HasSubstr("a bundled program (.bpte)"));
  EXPECT_THAT(message("FT01", 4), HasSubstr("a data file (.ptd)"));
  EXPECT_THAT(message("ED00", 4), HasSubstr("an ETDump"));
  EXPECT_THAT(message("what", 4), testing::EndsWith("(.pte)"));
}

TEST(Module, RejectsMisalignedPrograms) {
  const std::string program = test::read_text(sample("add_mul/model.pte"));
  test::AlignedBytes file(program.size() + 1);
  std::memcpy(file.data() + 1, program.data(), program.size());
  EXPECT_THAT(Module::load(std::span<const std::byte>(file).subspan(1)),
              test::FailsWith(ErrorCode::kInvalidArgument, HasSubstr("not aligned to")));
}

TEST(Module, MissingBackendCausesErrorCodeNotFound) {
  test::ProgramBuilder builder;
  test::MethodSpec& method = builder.method("forward");
  method.delegates.push_back({.id = "NoSuchBackend"});
  const test::AlignedBytes file = builder.build();
  auto module = test::require(Module::load(file));
  EXPECT_EQ(module.load_method("forward").code(), ErrorCode::kNotFound);
}

TEST(Module, LoadsFromMemory) {
  const std::string program = test::read_text(sample("add_mul/model.pte"));
  auto module = test::require(Module::load(std::as_bytes(std::span(program))));
  EXPECT_TRUE(module.load_method("forward").ok());
  EXPECT_FALSE(module.load_method("other").ok());
}

TEST(Module, RejectsMemoryPlansThatOverwriteNeededValues) {
  test::ProgramBuilder builder;
  test::MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 16};
  const int x = forward.tensor({.sizes = {2}, .planned = test::Planned{1, 0}});
  const int y = forward.tensor({.sizes = {2}, .planned = test::Planned{1, 4}});
  forward.inputs = {x, y};
  forward.outputs = {x};
  const test::AlignedBytes file = builder.build();
  auto module = test::require(Module::load(file));
  EXPECT_THAT(module.load_method("forward"),
              test::FailsWith(ErrorCode::kInvalidProgram,
                              HasSubstr("forward, outputs[0]: needs values[0]")));
}

TEST(Module, ErrorNamesTheFile) {
  EXPECT_THAT(Module::load("no_such_file.pte").take_error().message(),
              HasSubstr("no_such_file.pte"));
  const std::string path = sample("add_mul/input_0.bin");
  EXPECT_THAT(Module::load(path.c_str()),
              test::FailsWith(ErrorCode::kInvalidProgram, HasSubstr(path)));
}

}  // namespace
}  // namespace vitrine
