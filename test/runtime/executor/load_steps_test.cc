// Tests that the number of steps for loading a method grows at most linearly with the size of the
// file, even if the file refers to one item many times.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "runtime/executor/load_steps.h"
#include "schema/program_generated.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "test/support/test_kernels.h"
#include "vitrine/method.h"

namespace vitrine {
namespace {

namespace fbs = schema::program;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using Tables = std::vector<Offset<T>>;

struct Plan {
  Tables<fbs::EValue> values;
  Tables<fbs::Operator> operators;
  Tables<fbs::BackendDelegate> delegates;
  Tables<fbs::Instruction> calls;
  uint32_t payload_bytes = 0;
};

// Each of the following functions returns a plan of `size` operators, delegates, tensors or
// instructions.

Plan operators_that_are_missing(FlatBufferBuilder& out, uint32_t size) {
  Plan plan;
  for (uint32_t i = 0; i < size; ++i) {
    const std::string name = "test::" + std::to_string(1'000'000 + i);
    plan.operators.push_back(fbs::CreateOperator(out, out.CreateString(name)));
  }
  return plan;
}

// In this and the next two functions, all items share one name or key of `size` letters.
Plan operators_that_share_a_name(FlatBufferBuilder& out, uint32_t size) {
  Plan plan;
  const auto op = fbs::CreateOperator(out, out.CreateString(std::string(size, 'a')));
  plan.operators.assign(size, op);
  return plan;
}

Plan backends_that_share_a_name(FlatBufferBuilder& out, uint32_t size) {
  Plan plan;
  const auto data = fbs::CreateBackendDelegateDataReference(out, fbs::DataLocation::INLINE, 0);
  const auto delegate =
      fbs::CreateBackendDelegate(out, out.CreateString(std::string(size, 'a')), data);
  plan.delegates.assign(size, delegate);
  return plan;
}

Plan weights_that_share_a_key(FlatBufferBuilder& out, uint32_t size) {
  Plan plan;
  const auto key = out.CreateString(std::string(size, 'k'));
  const auto extra = fbs::CreateExtraTensorInfo(out, 0, key, fbs::TensorDataLocation::EXTERNAL);
  const auto tensor = fbs::CreateTensor(out, schema::ScalarType::FLOAT, 0,
                                        out.CreateVector(std::vector<int32_t>{1}),
                                        out.CreateVector(std::vector<uint8_t>{0}), false, 0, 0, 0,
                                        fbs::TensorShapeDynamism::STATIC, extra);
  plan.values.assign(size, fbs::CreateEValue(out, fbs::KernelTypes::Tensor, tensor.Union()));
  return plan;
}

// The list has `size` items.
Plan calls_that_write_one_list(FlatBufferBuilder& out, uint32_t size) {
  Plan plan;
  const auto tensor = fbs::CreateTensor(out, schema::ScalarType::FLOAT, 0,
                                        out.CreateVector(std::vector<int32_t>{1}),
                                        out.CreateVector(std::vector<uint8_t>{0}));
  const auto list = fbs::CreateTensorList(out, out.CreateVector(std::vector<int32_t>(size, 0)));
  plan.values = {fbs::CreateEValue(out, fbs::KernelTypes::Tensor, tensor.Union()),
                 fbs::CreateEValue(out, fbs::KernelTypes::TensorList, list.Union())};
  plan.operators = {
      fbs::CreateOperator(out, out.CreateString("test::fail"), out.CreateString("out"))};
  for (uint32_t i = 0; i < size; ++i) {
    const auto arguments = out.CreateVector(std::vector<int32_t>{0, 1, 1});
    plan.calls.push_back(fbs::CreateInstruction(out, fbs::InstructionArguments::KernelCall,
                                                fbs::CreateKernelCall(out, 0, arguments).Union()));
  }
  return plan;
}

// The payload has 64 bytes for each delegate.
Plan delegates_that_share_a_payload(FlatBufferBuilder& out, uint32_t size) {
  Plan plan;
  plan.payload_bytes = 64 * size;
  const auto data = fbs::CreateBackendDelegateDataReference(out, fbs::DataLocation::INLINE, 0);
  const auto delegate = fbs::CreateBackendDelegate(out, out.CreateString("TakesAll"), data);
  plan.delegates.assign(size, delegate);
  return plan;
}

using Make = Plan (*)(FlatBufferBuilder&, uint32_t);

test::AlignedBytes file_of(Make make, uint32_t size) {
  FlatBufferBuilder out;
  Plan plan = make(out, size);
  if (plan.values.empty()) {
    plan.values = {fbs::CreateEValue(out, fbs::KernelTypes::Null, fbs::CreateNull(out).Union())};
  }
  const auto made = fbs::CreateExecutionPlan(
      out, out.CreateString("forward"), 0, out.CreateVector(plan.values), 0, 0,
      out.CreateVector(
          Tables<fbs::Chain>{fbs::CreateChain(out, 0, 0, out.CreateVector(plan.calls))}),
      out.CreateVector(plan.operators), out.CreateVector(plan.delegates));
  out.ForceVectorAlignment(plan.payload_bytes, 1, 16);  // so that the payload is not copied
  const auto payload = fbs::CreateBackendDelegateInlineData(
      out, out.CreateVector(std::vector<uint8_t>(plan.payload_bytes)));
  fbs::FinishProgramBuffer(
      out, fbs::CreateProgram(out, 0, out.CreateVector(Tables<fbs::ExecutionPlan>{made}), 0,
                              out.CreateVector(Tables<fbs::BackendDelegateInlineData>{payload})));
  const auto* begin = reinterpret_cast<const std::byte*>(out.GetBufferPointer());
  return {begin, begin + out.GetSize()};
}

constexpr int32_t kLargeBytes = 1 << 20;

// Returns the same weight of kLargeBytes bytes for every key. A tensor with fewer bytes uses the
// first bytes of the weight.
class LargeWeight final : public NamedDataMap {
 public:
  // If `is_read` is true, each get() returns a new buffer, like a map that reads from a file.
  // Otherwise, all buffers share memory, like those of a mapped file.
  LargeWeight(int32_t elements, bool is_read) : sizes_{elements}, is_read_(is_read) {}
  size_t size() const override { return 1; }
  std::string_view key(size_t) const override { return "w"; }
  Result<DataBuffer> get(std::string_view) const override {
    return is_read_ ? DataBuffer::allocate(kLargeBytes) : Result(DataBuffer(bytes_));
  }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional(TensorLayout{ScalarType::kFloat, sizes_, dim_order_});
  }

 private:
  test::AlignedBytes bytes_ = test::AlignedBytes(kLargeBytes);
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> dim_order_{0};
  bool is_read_;
};

// Accepts every payload without reading it.
class TakesAll final : public BackendInterface {
 public:
  const char* id() const override { return "TakesAll"; }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext&, std::span<const std::byte>,
                                         std::span<const CompileSpec>) const override {
    return std::unique_ptr<Delegate>(std::make_unique<Nothing>());
  }

 private:
  class Nothing final : public Delegate {
    Error execute(const BackendExecutionContext&, std::span<EValue* const>) override {
      return Error();
    }
  };
};

struct Cost {
  uint64_t steps;
  ErrorCode code;
};

Cost cost_of(Make make, uint32_t size) {
  const test::AlignedBytes file = file_of(make, size);
  const auto program = test::require(Program::load(*view_buffer(file)));
  const LargeWeight weights(1, false);
  const TakesAll backend;
  BackendRegistry backends;
  EXPECT_TRUE(backends.add(&backend).ok());
  const auto load = [&](uint64_t steps) {
    const MethodOptions options{.kernels = &test::test_kernels(),
                                .backends = &backends,
                                .external_data = &weights,
                                .limits = {.max_load_steps = steps}};
    return Method::load(program, "forward", options).take_error().code();
  };
  // Finds the smallest limit with which loading does not run out of steps. If every smaller limit
  // fails, the result is the default limit.
  uint64_t few = 0;
  uint64_t enough = default_load_steps(file.size());
  while (enough - few > 1) {
    const uint64_t middle = (few + enough) / 2;
    (load(middle) == ErrorCode::kOutOfResources ? few : enough) = middle;
  }
  return {enough, load(0)};
}

TEST(LoadStepsTest, GrowLinearlyEvenIfItemsAreShared) {
  struct Shape {
    Make make;
    ErrorCode code;
    ErrorCode code_if_small;
  };
  for (const auto& [make, code, code_if_small] : {
           Shape{operators_that_are_missing, ErrorCode::kOperatorMissing,
                 ErrorCode::kOperatorMissing},
           Shape{operators_that_share_a_name, ErrorCode::kOutOfResources,
                 ErrorCode::kOperatorMissing},
           Shape{backends_that_share_a_name, ErrorCode::kOutOfResources, ErrorCode::kNotFound},
           Shape{weights_that_share_a_key, ErrorCode::kOutOfResources, ErrorCode::kOk},
           Shape{calls_that_write_one_list, ErrorCode::kOutOfResources, ErrorCode::kOk},
           Shape{delegates_that_share_a_payload, ErrorCode::kOutOfResources, ErrorCode::kOk},
       }) {
    const Cost small = cost_of(make, 4000);
    const Cost large = cost_of(make, 16000);
    EXPECT_EQ(large.code, code);
    EXPECT_GE(small.steps, 4000u);
    EXPECT_LE(large.steps, 5 * small.steps);
    EXPECT_EQ(cost_of(make, 20).code, code_if_small);
  }
}

// Describes tensors that share bytes of a file. Loading reads or copies the bytes for each tensor.
struct SharedBytes {
  enum class From { kProgram, kMappedFile, kReadFile };
  From from;
  bool is_state;  // otherwise a constant, which is misaligned if the program contains it
  int32_t elements;

  uint64_t steps() const {
    const int32_t read = from == From::kReadFile ? kLargeBytes : 0;
    const int32_t copied = is_state || from == From::kProgram ? 4 * elements : 0;
    return static_cast<uint64_t>(read + copied) / 64;
  }
  ErrorCode load(uint64_t num_tensors, uint64_t max_load_steps) const {
    test::ProgramBuilder builder;
    test::MethodSpec& method = builder.method("forward");
    method.buffer_sizes = {0, kLargeBytes};
    test::TensorSpec tensor{.sizes = {elements}};
    if (is_state) tensor.planned = test::Planned{1, 0};
    if (from != From::kProgram) {
      tensor.external = "w";
    } else if (is_state) {
      tensor.data = builder.initial_state(test::Bytes(kLargeBytes));
    } else {
      tensor.data = builder.constant(test::Bytes(kLargeBytes + 1));
      builder.constant_offsets = {{0, 1}};
    }
    for (uint64_t i = 0; i < num_tensors; ++i) method.tensor(tensor);
    const test::AlignedBytes file = builder.build();
    const auto program = test::require(Program::load(*view_buffer(file)));
    const LargeWeight weight(elements, from == From::kReadFile);
    const MethodOptions options{.kernels = &test::test_kernels(),
                                .external_data = &weight,
                                .limits = {.max_load_steps = max_load_steps}};
    return Method::load(program, "forward", options).take_error().code();
  }
};

TEST(LoadStepsTest, CountSharedBytesOncePerTensor) {
  using From = SharedBytes::From;
  constexpr int32_t kAll = kLargeBytes / 4;
  for (const SharedBytes& shape :
       {SharedBytes{From::kProgram, true, kAll}, SharedBytes{From::kMappedFile, true, kAll},
        SharedBytes{From::kReadFile, true, kAll}, SharedBytes{From::kReadFile, true, 1},
        SharedBytes{From::kReadFile, false, 1}, SharedBytes{From::kProgram, false, kAll}}) {
    SCOPED_TRACE(testing::Message() << "from " << static_cast<int>(shape.from) << ", "
                                    << shape.is_state << ", " << shape.elements);
    constexpr uint64_t kTensors = 20;
    const uint64_t steps = kTensors * shape.steps();
    EXPECT_EQ(shape.load(kTensors, steps), ErrorCode::kOutOfResources);
    EXPECT_EQ(shape.load(kTensors, steps + 100 * kTensors), ErrorCode::kOk);
    // The last check is only for states. Copies of constants stay allocated, so the memory limit
    // bounds them as well.
    if (!shape.is_state) continue;
    EXPECT_EQ(shape.load(100 * kTensors, 0), ErrorCode::kOutOfResources);
  }
}

}  // namespace
}  // namespace vitrine
