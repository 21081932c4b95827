#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <map>
#include <string>

#include "runtime/core/checked_math.h"
#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using test::bytes_of;
using test::Planned;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class PlannedMemoryTest : public test::MethodTest {
 protected:
  PlannedMemoryTest() { build_scaling(); }

  std::string refusal(const MethodOptions& options, ErrorCode code) {
    const Error error = try_load(options).take_error();
    EXPECT_EQ(error.code(), code);
    return error.message();
  }
};

TEST_F(PlannedMemoryTest, MayBelongToTheCaller) {
  alignas(16) std::array<std::byte, 64> memory{};
  const std::array buffers{std::span<std::byte>(memory)};
  const auto method = load({.planned_memory = buffers});
  EXPECT_THAT(run(*method, value({2, 3}, {1, 2, 3, 4, 5, 6})), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_EQ(method->output(0).unchecked_tensor().raw_data(), memory.data() + 32);
}

TEST_F(PlannedMemoryTest, RejectsBuffersOfWrongSizeAlignmentOrCount) {
  alignas(16) std::array<std::byte, 80> memory{};
  const std::span<std::byte> bytes(memory);
  const std::array small{bytes.first(63)};
  EXPECT_THAT(refusal({.planned_memory = small}, ErrorCode::kInvalidArgument),
              HasSubstr("planned_memory[0] must have 64 bytes, 16-byte aligned; got 63 at "));
  const std::array misaligned{bytes.subspan(8)};
  EXPECT_THAT(refusal({.planned_memory = misaligned}, ErrorCode::kInvalidArgument),
              HasSubstr("planned_memory[0]"));
  const std::array two{bytes, bytes};
  EXPECT_STREQ(refusal({.planned_memory = two}, ErrorCode::kInvalidArgument).c_str(),
               "planned_memory must have 1 buffers, got 2");
}

// state = state + x, f32[2]. A view of the state shares its memory and has no initial value.
TEST_F(PlannedMemoryTest, ResetRestoresTheLoadedState) {
  for (const bool has_value : {false, true}) {
    start_over();
    const uint32_t data = builder_.initial_state(bytes_of<float>({10, 20}));
    forward_.buffer_sizes = {0, 64};
    const int x = forward_.tensor({.sizes = {2}, .planned = Planned{1, 0}});
    const int state =
        forward_.tensor({.sizes = {2}, .planned = Planned{1, 32}, .data = has_value ? data : 0});
    forward_.tensor({.sizes = {2, 1}, .planned = Planned{1, 32}});
    forward_.inputs = {x};
    forward_.outputs = {state};
    forward_.kernel_call(forward_.op("test::add", "out"), {state, x, state, state});
    alignas(16) std::array<std::byte, 64> memory{};
    const std::array buffers{std::span<std::byte>(memory)};
    for (const bool is_callers : {false, true}) {
      MethodOptions options;
      if (is_callers) options.planned_memory = buffers;
      const auto method = load(options);
      const std::vector<float> once =
          has_value ? std::vector<float>{11, 21} : std::vector<float>{1, 1};
      for (int text = 0; text < 2; ++text) {
        EXPECT_EQ(run(*method, value({2}, {1, 1})), once);
        ASSERT_TRUE(method->execute().ok());
        EXPECT_EQ(output(*method)[0], once[0] + 1);
        ASSERT_TRUE(method->reset_state().ok());
        EXPECT_EQ(method->execute().code(), ErrorCode::kInvalidState)
            << "the reset clears its planned input";
      }
      memory = {};
    }
  }
}

// 2000 values share the same memory. Filling each of them separately would write 64 GB.
TEST_F(PlannedMemoryTest, ResetWritesEachByteOnce) {
  constexpr int32_t kBytes = 32 << 20;
  start_over();
  forward_.buffer_sizes = {0, kBytes + 16};
  const auto add = [this](int32_t bytes, uint64_t offset) {
    return forward_.tensor(
        {.dtype = ScalarType::kByte, .sizes = {bytes}, .planned = Planned{1, offset}});
  };
  forward_.inputs = {add(kBytes, 16)};
  forward_.outputs = {add(kBytes + 16, 0)};
  for (int i = 0; i < 2000; ++i) add(kBytes, 16 * static_cast<uint64_t>(i % 2));
  const auto method = load();
  Tensor& ones = factory_.make(ScalarType::kByte, {kBytes});
  std::memset(ones.mutable_raw_data(), 1, kBytes);
  ASSERT_TRUE(method->set_input(0, EValue(&ones)).ok());
  const std::clock_t begin = std::clock();
  ASSERT_TRUE(method->reset_state().ok());
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC);
  const auto* const bytes = method->output(0).unchecked_tensor().data<uint8_t>();
  EXPECT_EQ(std::count(bytes, bytes + kBytes + 16, 0), kBytes + 16);
}

TEST_F(PlannedMemoryTest, IsLimitedByTheBudget) {
  forward_.buffer_sizes = {0, 1'000'000, 1'000'000};
  EXPECT_THAT(
      refusal({.limits = {.max_memory_bytes = 2'000'000}}, ErrorCode::kMemoryAllocationFailed),
      HasSubstr("no memory for planned memory"));
  const auto method = load({.limits = {.max_memory_bytes = 2'100'000}});
  const MemoryUsage usage = method->memory_usage();
  EXPECT_EQ(usage.planned, 2'000'000u);
  EXPECT_EQ(usage.budget, 2'100'000u);
  EXPECT_GE(usage.taken, 2'000'000u + usage.metadata);
  EXPECT_LE(usage.taken, usage.budget);
}

// The kernel requests memory for two copies of its input.
TEST_F(PlannedMemoryTest, TemporaryMemoryMatchesKernelRequests) {
  constexpr int32_t kCount = 10'000;
  constexpr uint64_t kCopy = kCount * sizeof(float);
  start_over();
  add_x_and_out({kCount}, 2 * kCopy, kCopy);
  call("test::scale_scratch.out", {x_, forward_.integer(2), out_, out_});
  const auto method = load();
  EXPECT_EQ(method->memory_usage().temporary, 0u);
  constexpr uint64_t kAligned = 2 * (kCopy + alignof(float));  // includes padding for alignment
  const uint64_t before = method->memory_usage().taken;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(run(*method, value({kCount}, std::vector<float>(kCount, 3))), testing::Each(6.f));
    const MemoryUsage usage = method->memory_usage();
    EXPECT_EQ(usage.temporary, kAligned);
    // One block replaces the first parts and is kept.
    EXPECT_LE(usage.taken, before + kAligned);
  }
  const MemoryUsage usage = method->memory_usage();
  EXPECT_EQ(usage.taken, usage.planned + usage.metadata + usage.temporary);
  const auto refused = load({.limits = {.max_memory_bytes = usage.taken - 1}});
  ASSERT_TRUE(refused->set_input(0, value({kCount}, std::vector<float>(kCount, 3))).ok());
  EXPECT_THAT(refused->execute(),
              test::FailsWith(ErrorCode::kMemoryAllocationFailed,
                              HasSubstr("no temporary memory for 10000 elements")));
}

// The first sum of buffer sizes overflows size_t. The other sums are too large to allocate.
TEST_F(PlannedMemoryTest, RejectsHugeSizesWithoutWrapAround) {
  constexpr auto kMax = static_cast<int64_t>(kMaxBytes);
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{0, 64, kMax, kMax, kMax}, {0, 64, kMax, kMax - 120, 64}, {0, kMax}}) {
    SCOPED_TRACE(testing::PrintToString(sizes));
    forward_.buffer_sizes = sizes;
    refusal({.limits = {.max_memory_bytes = UINT64_MAX}}, ErrorCode::kMemoryAllocationFailed);
  }
}

TEST_F(PlannedMemoryTest, IsZeroedAndAligned) {
  forward_.buffer_sizes = {0, 65, 64};
  forward_.chains[0].clear();
  forward_.outputs = {out_, forward_.tensor({.sizes = {2}, .planned = Planned{2, 0}})};
  forward_.inputs = {};
  const auto method = load({.accept_unwritten_outputs = true});
  ASSERT_TRUE(method->execute().ok());
  EXPECT_THAT(output(*method), testing::Each(0.f));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(method->output(1).unchecked_tensor().raw_data()) % 64, 0u);
}

// state = state + x. The state is planned and starts at 10 if it has an initial value, else at 0.
TEST_F(PlannedMemoryTest, StateIsSeparateForEachMethodAndStartsAtItsInitialValueOrZero) {
  for (const bool initial : {true, false}) {
    start_over();
    add_x_and_out({2});
    if (initial) {
      forward_.values[1].tensor.data = builder_.initial_state(bytes_of<float>({10, 10}));
    }
    add(out_, x_, out_);
    const float start = initial ? 10 : 0;
    const std::shared_ptr<const Program> program = build();
    const MethodOptions options{.kernels = &test::test_kernels()};
    const auto first = test::require(Method::load(program, "forward", options));
    const auto second = test::require(Method::load(program, "forward", options));
    EXPECT_THAT(run(*first, value({2}, {1, 1})), testing::Each(start + 1));
    EXPECT_THAT(run(*second, value({2}, {5, 5})), testing::Each(start + 5));
    EXPECT_THAT(run(*first, value({2}, {2, 2})), testing::Each(start + 1 + 2));
  }
}

// A map of named f32 tensors.
class FakeExternalData final : public NamedDataMap {
 public:
  struct Tensor {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
    test::AlignedBytes bytes;
  };
  std::map<std::string, Tensor, std::less<>> tensors;
  bool gives_copies = false;  // like a file that is read, not mapped

  size_t size() const override { return tensors.size(); }
  std::string_view key(size_t) const override { return tensors.begin()->first; }
  Result<DataBuffer> get(std::string_view key) const override {
    const auto found = tensors.find(key);
    if (found == tensors.end()) return Error::make(ErrorCode::kNotFound, "no such key");
    const test::AlignedBytes& bytes = found->second.bytes;
    if (!gives_copies) return DataBuffer(bytes);
    VITRINE_ASSIGN_OR_RETURN(DataBuffer copy, DataBuffer::allocate(bytes.size()));
    std::ranges::copy(bytes, copy.owned_data());
    return copy;
  }
  Result<std::optional<TensorLayout>> layout(std::string_view key) const override {
    const auto found = tensors.find(key);
    if (found == tensors.end()) return Error::make(ErrorCode::kNotFound, "no such key");
    return std::optional<TensorLayout>(
        {ScalarType::kFloat, found->second.sizes, found->second.dim_order});
  }
};

class ConstantsTest : public test::MethodTest {
 protected:
  // out = x + constant
  void build_sum(test::TensorSpec constant, const char* op = "test::add.out") {
    add_x_and_out({2}, 96);
    constant.sizes = {2};
    constant_ = forward_.tensor(std::move(constant));
    call(op, {x_, constant_, out_, out_});
  }
  void expect_sum(const MethodOptions& options = {}) {
    EXPECT_THAT(run(*test::require(try_load(options)), value({2}, {1, 2})), ElementsAre(11, 22));
  }
  std::string refusal(const MethodOptions& options) {
    return try_load(options).take_error().message();
  }
  static test::AlignedBytes aligned(const std::vector<float>& values) {
    const test::Bytes bytes = bytes_of(values);
    return {bytes.begin(), bytes.end()};
  }

  int constant_ = 0;
  FakeExternalData external_;
};

TEST_F(ConstantsTest, AreReadFromTheSegmentFromTheFlatbufferOrFromExternalData) {
  builder_.constant(bytes_of<float>({7}));
  build_sum({.data = builder_.constant(bytes_of<float>({10, 20}))});
  expect_sum();
  builder_.legacy_constants = true;
  expect_sum();
  builder_.legacy_constants = false;
  start_over();
  external_.tensors["w"] = {{2}, {0}, aligned({10, 20})};
  build_sum({.external = "w"});
  expect_sum({.external_data = &external_});
}

// If the kernel's second argument is a constant of the program, the kernel keeps a copy of this
// argument.
TEST_F(ConstantsTest, KernelsCanKeepCopiesOfConstants) {
  constexpr auto kPacked = DelegateMemory::Kind::kPackedWeights;
  const auto kept_bytes = [this](const MethodOptions& options) {
    const auto method = load(options);
    const uint64_t taken = method->memory_usage().taken;
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(run(*method, value({2}, {1, 2})), ElementsAre(11, 22));
    }
    const MemoryUsage usage = method->memory_usage();
    EXPECT_EQ(usage.taken - taken, usage.delegates.bytes(kPacked));
    return usage.delegates.bytes(kPacked);
  };
  build_sum({.data = builder_.constant(bytes_of<float>({10, 20}))}, "test::add_derived.out");
  EXPECT_GE(kept_bytes({}), 2 * sizeof(float));

  start_over();
  external_.tensors["w"] = {{2}, {0}, aligned({10, 20})};
  build_sum({.external = "w"}, "test::add_derived.out");
  EXPECT_EQ(kept_bytes({.external_data = &external_}), 0U);

  start_over();
  build_sum({.planned = Planned{1, 64}, .data = builder_.initial_state(bytes_of<float>({10, 20}))},
            "test::add_derived.out");
  EXPECT_EQ(kept_bytes({}), 0U);
}

// Each execution doubles the state after the kernel has read it.
TEST_F(ConstantsTest, KernelsCannotKeepCopiesOfStates) {
  build_sum({.planned = Planned{1, 64}, .data = builder_.initial_state(bytes_of<float>({10, 20}))},
            "test::add_derived.out");
  add(constant_, constant_, constant_);
  const auto method = load();
  EXPECT_THAT(run(*method, value({2}, {1, 2})), ElementsAre(11, 22));
  EXPECT_THAT(run(*method, value({2}, {1, 2})), ElementsAre(21, 42));
}

TEST_F(ConstantsTest, AcceptMisalignedOffsets) {
  test::Bytes data = bytes_of("x");
  const test::Bytes numbers = bytes_of<float>({10, 20});
  data.insert(data.end(), numbers.begin(), numbers.end());
  builder_.constant(data);
  builder_.constant_offsets = {{0, 1}};
  build_sum({.data = 1});
  expect_sum();
  forward_.outputs.push_back(constant_);
  const auto method = load();
  EXPECT_EQ(
      reinterpret_cast<uintptr_t>(method->output(1).unchecked_tensor().raw_data()) % sizeof(float),
      0u);
}

TEST_F(ConstantsTest, KernelsCannotWriteConstants) {
  build_sum({.data = builder_.constant(bytes_of<float>({10, 20}))});
  forward_.kernel_call(0, {x_, x_, constant_, constant_});
  const auto method = load();
  ASSERT_TRUE(method->set_input(0, value({2}, {1, 2})).ok());
  EXPECT_THAT(method->execute(),
              test::FailsWith(ErrorCode::kInvalidProgram,
                              HasSubstr("instruction 1 (kernel test::add.out): argument 2")));
}

TEST_F(ConstantsTest, DelegatesCannotWriteConstants) {
  build_sum({.data = builder_.constant(bytes_of<float>({10, 20}))});
  forward_.delegate_call(delegate(3), {x_, constant_});  // the delegate may write this argument
  EXPECT_THAT(
      try_load(),
      test::FailsWith(
          ErrorCode::kInvalidProgram,
          "forward, chains[0].instructions[1]: argument 1 of the delegate is an output, but it is "
          "a constant of the program"));
}

TEST_F(ConstantsTest, DelegatesCanReadConstants) {
  build_sum({.data = builder_.constant(bytes_of<float>({10, 20}))});
  forward_.delegate_call(delegate(3, {{"inputs", {std::byte{1}}}}), {constant_, out_});
  const auto method = load();
  EXPECT_THAT(run(*method, value({2}, {1, 2})), ElementsAre(30, 60));
}

TEST_F(ConstantsTest, CopiesOfExternalDataCountTowardTheBudget) {
  constexpr int32_t kBytes = 100'000;
  constexpr uint64_t kCount = 20;
  const std::vector<float> zeros(kBytes / sizeof(float));
  external_.tensors["w"] = {{kBytes / sizeof(float)}, {0}, aligned(zeros)};
  for (uint64_t i = 0; i < kCount; ++i) {
    forward_.tensor({.sizes = {kBytes / sizeof(float)}, .external = "w"});
  }
  const MethodOptions options{.external_data = &external_,
                              .limits = {.max_memory_bytes = kCount * kBytes}};
  const auto mapped = load(options);
  EXPECT_LT(mapped->memory_usage().taken, uint64_t{kBytes});
  external_.gives_copies = true;
  EXPECT_THAT(
      try_load(options),
      test::FailsWith(ErrorCode::kMemoryAllocationFailed,
                      AllOf(HasSubstr("values[19]: no memory for external data"),
                            HasSubstr("of the 2000000 bytes that max_memory_bytes allows"))));
  const auto read = load({.external_data = &external_});
  EXPECT_EQ(read->memory_usage().taken, mapped->memory_usage().taken + kCount * kBytes);
}

TEST_F(ConstantsTest, ExternalDataMayBeAnInitialValue) {
  external_.tensors["w"] = {{2}, {0}, aligned({10, 20})};
  build_sum({.planned = Planned{1, 64}, .external = "w"});
  forward_.kernel_call(0, {x_, constant_, constant_, constant_});
  expect_sum({.external_data = &external_});
  EXPECT_EQ(external_.tensors["w"].bytes, aligned({10, 20})) << "the state must be a copy";
}

// After a failed reset, neither inputs nor states have valid contents.
TEST_F(ConstantsTest, ExecutionFailsAfterAFailedReset) {
  external_.tensors["w"] = {{2}, {0}, aligned({10, 20})};
  build_sum({.planned = Planned{1, 64}, .external = "w"});
  const auto method = load({.external_data = &external_});
  const EValue x = value({2}, {1, 2});
  run(*method, x);
  const auto kept = std::exchange(external_.tensors, {});
  EXPECT_THAT(method->reset_state().message(),
              HasSubstr("values[2]: the program has no named data for key w"));
  EXPECT_EQ(method->execute().code(), ErrorCode::kInvalidState)
      << "the reset clears its planned input";
  ASSERT_TRUE(method->set_input(0, x).ok());
  EXPECT_THAT(
      method->execute(),
      test::FailsWith(ErrorCode::kInvalidState,
                      "the last reset_state() failed; call it again before the next execution"));
  external_.tensors = kept;
  ASSERT_TRUE(method->reset_state().ok());
  EXPECT_THAT(run(*method, x), ElementsAre(11, 22));
}

TEST_F(ConstantsTest, ExternalDataMustMatchTheProgram) {
  build_sum({.external = "w"});
  EXPECT_THAT(refusal({}), HasSubstr("forward, values[2]: weight w is stored outside"));
  EXPECT_THAT(refusal({.external_data = &external_}), HasSubstr("no such key"));
  constexpr const char* kOtherLayout = "a different dtype, shape or dim order";
  const std::pair<FakeExternalData::Tensor, const char*> cases[] = {
      {{{2, 1}, {0, 1}, aligned({10, 20})}, kOtherLayout},
      {{{2}, {1}, aligned({10, 20})}, kOtherLayout},
      {{{2}, {0}, aligned({10})}, "too short"}};
  for (const auto& [tensor, message] : cases) {
    SCOPED_TRACE(testing::PrintToString(tensor.sizes) + testing::PrintToString(tensor.dim_order));
    external_.tensors["w"] = tensor;
    EXPECT_THAT(refusal({.external_data = &external_}), HasSubstr(message));
  }
}

}  // namespace
}  // namespace vitrine
