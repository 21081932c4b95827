#include "test/support/test_backend.h"

#include <algorithm>

#include "runtime/platform/clock.h"

namespace vitrine::test {
namespace {

using Scratch = std::vector<std::vector<std::span<std::byte>>>;

class Multiplication final : public Delegate {
 public:
  Multiplication(float factor, bool fails, size_t inputs, size_t lost, int* live, Scratch* scratch)
      : factor_(factor),
        fails_(fails),
        inputs_(inputs),
        lost_(lost),
        live_(live),
        scratch_(scratch) {
    ++*live_;
  }
  ~Multiplication() override { --*live_; }

  Error execute(const BackendExecutionContext& context,
                std::span<EValue* const> arguments) override {
    if (fails_) return Error::make(ErrorCode::kInternal, "told to fail");
    if (!context.scratch.empty()) {
      scratch_->emplace_back(context.scratch.begin(), context.scratch.end());
    }
    for (const std::span<std::byte> scratch : context.scratch) {
      std::ranges::fill(scratch, std::byte{0xFF});
    }
    TraceRecord record{.start_ns = platform::now_ns(),
                       .metadata = TestBackend::kMetadata,
                       .metadata_size = sizeof TestBackend::kMetadata - 1,
                       .chain_index = context.chain_index,
                       .instruction_id = context.instruction_id,
                       .delegate_debug_id = TestBackend::kDebugId,
                       .kind = TraceRecord::Kind::kDelegateOperator};
    const size_t count = arguments.size() / 2;
    if (arguments.size() % 2 != 0) {
      return Error::make(ErrorCode::kInvalidProgram, "the number of arguments must be even");
    }
    for (size_t i = 0; i < count; ++i) {
      VITRINE_RETURN_IF_ERROR(multiply(*arguments[i], *arguments[count + i]));
    }
    record.end_ns = platform::now_ns();
    if (context.tracer != nullptr) context.tracer->record(record);
    return Error();
  }

  // Without the compile spec "inputs", all arguments count as outputs.
  bool is_output(size_t index) const override { return index >= inputs_ && index != lost_; }

 private:
  Error multiply(const EValue& from, const EValue& to) const {
    if (!from.is_tensor() || !to.is_tensor() ||
        from.unchecked_tensor().dtype() != ScalarType::kFloat ||
        to.unchecked_tensor().dtype() != ScalarType::kFloat ||
        !from.unchecked_tensor().is_readable() || !to.unchecked_tensor().is_writable()) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "an argument is not an f32 tensor with memory");
    }
    VITRINE_RETURN_IF_ERROR(to.unchecked_tensor().resize(from.unchecked_tensor().sizes()));
    for (int64_t i = 0; i < from.unchecked_tensor().numel(); ++i) {
      to.unchecked_tensor().mutable_data<float>()[i] =
          from.unchecked_tensor().data<float>()[i] * factor_;
    }
    return Error();
  }

  float factor_;
  bool fails_;
  size_t inputs_;
  size_t lost_;
  int* live_;
  Scratch* scratch_;
};

}  // namespace

Result<std::unique_ptr<Delegate>> TestBackend::init(
    const BackendInitContext& context, std::span<const std::byte> payload,
    std::span<const CompileSpec> compile_specs) const {
  last_init_ = {context,
                Bytes(payload.begin(), payload.end()),
                reinterpret_cast<uintptr_t>(payload.data()) % 16 == 0,
                {}};
  bool fails = false;
  size_t inputs = 0;
  size_t lost = SIZE_MAX;
  for (const CompileSpec& spec : compile_specs) {
    last_init_.compile_specs.emplace_back(std::string(spec.key),
                                          Bytes(spec.value.begin(), spec.value.end()));
    fails = fails || spec.key == "fail";
    if (spec.key == "inputs") inputs = static_cast<size_t>(spec.value[0]);
    if (spec.key == "lost") lost = static_cast<size_t>(spec.value[0]);
  }
  if (payload.size() != 3 || payload[0] != std::byte{'T'} || payload[1] != std::byte{'B'}) {
    return Error::make(ErrorCode::kDelegateInvalidCompatibility,
                       "byte 0 of the payload: it must start with TB");
  }
  return std::unique_ptr<Delegate>(std::make_unique<Multiplication>(
      static_cast<float>(payload[2]), fails, inputs, lost, &live_delegates_, &scratch_));
}

}  // namespace vitrine::test
