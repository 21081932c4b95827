#include "test/support/test_backend.h"

#include "runtime/platform/clock.h"

namespace vitrine::test {
namespace {

class Multiplication final : public Delegate {
 public:
  Multiplication(float factor, bool fails, size_t inputs, int* live)
      : factor_(factor), fails_(fails), inputs_(inputs), live_(live) {
    ++*live_;
  }
  ~Multiplication() override { --*live_; }

  Error execute(const BackendExecutionContext& context,
                std::span<EValue* const> arguments) override {
    if (fails_) return Error::make(ErrorCode::kInternal, "told to fail");
    TraceRecord record{.start_ns = platform::now_ns(),
                       .metadata = TestBackend::kMetadata,
                       .metadata_size = sizeof TestBackend::kMetadata - 1,
                       .chain_index = context.chain_index,
                       .instruction_id = context.instruction_id,
                       .delegate_debug_id = TestBackend::kDebugId,
                       .kind = TraceRecord::Kind::kDelegateOperator};
    const size_t count = arguments.size() / 2;
    if (arguments.size() % 2 != 0) {
      return Error::make(ErrorCode::kInvalidProgram, "an odd number of arguments");
    }
    for (size_t i = 0; i < count; ++i) {
      VITRINE_RETURN_IF_ERROR(multiply(*arguments[i], *arguments[count + i]));
    }
    record.end_ns = platform::now_ns();
    if (context.tracer != nullptr) context.tracer->record(record);
    return Error();
  }

  // Of all arguments it does not know unless told how many inputs there are.
  bool is_output(size_t index) const override { return index >= inputs_; }

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
  int* live_;
};

}  // namespace

Result<std::unique_ptr<Delegate>> TestBackend::init(
    const BackendInitContext& context, std::span<const std::byte> processed,
    std::span<const CompileSpec> compile_specs) const {
  last_init_ = {context,
                Bytes(processed.begin(), processed.end()),
                reinterpret_cast<uintptr_t>(processed.data()) % 16 == 0,
                {}};
  bool fails = false;
  size_t inputs = 0;
  for (const CompileSpec& spec : compile_specs) {
    last_init_.compile_specs.emplace_back(std::string(spec.key),
                                          Bytes(spec.value.begin(), spec.value.end()));
    fails = fails || spec.key == "fail";
    if (spec.key == "inputs") inputs = static_cast<size_t>(spec.value[0]);
  }
  if (processed.size() != 3 || processed[0] != std::byte{'T'} || processed[1] != std::byte{'B'}) {
    return Error::make(ErrorCode::kDelegateInvalidCompatibility,
                       "byte 0 of the payload: it does not begin with TB");
  }
  return std::unique_ptr<Delegate>(std::make_unique<Multiplication>(
      static_cast<float>(processed[2]), fails, inputs, &live_delegates_));
}

}  // namespace vitrine::test
