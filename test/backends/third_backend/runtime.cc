#include "test/backends/third_backend/runtime.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/platform/clock.h"
#include "test/backends/third_backend/payload_format.h"

namespace third {
namespace {

using vitrine::Error;
using vitrine::ErrorCode;
using vitrine::EValue;
using vitrine::Result;
using vitrine::ScalarType;
using vitrine::Tensor;
using vitrine::TraceRecord;

constexpr uint32_t kMaxElements = 1U << 24;

struct Operator {
  Kind kind = Kind::kAdd;
  uint32_t a = 0, b = 0;
  std::string identifier;
};

struct Plan {
  uint32_t num_inputs = 0;
  std::vector<uint32_t> elements;  // by value
  std::vector<Operator> operators;
  std::vector<uint32_t> outputs;
};

Error wrong(const char* what) {
  return Error::make(ErrorCode::kDelegateInvalidCompatibility, "payload: %s", what);
}

Result<Plan> read_plan(std::span<const std::byte> bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  if (words.size() < 4 || bytes.size() % 4 != 0) return wrong("is cut");
  std::memcpy(words.data(), bytes.data(), bytes.size());
  if (words[0] != kMagic) return wrong("is not of this backend");
  const uint64_t values = uint64_t{words[1]} + words[2];
  if (4 + values + uint64_t{4} * words[2] + words[3] != words.size()) return wrong("is cut");
  Plan plan;
  plan.num_inputs = words[1];
  const uint32_t* at = words.data() + 4;
  plan.elements.assign(at, at + values);
  at += values;
  if (std::ranges::any_of(plan.elements, [](uint32_t n) { return n > kMaxElements; })) {
    return wrong("a value is too large");
  }
  for (uint32_t i = 0; i < words[2]; ++i, at += 4) {
    const uint32_t result = plan.num_inputs + i;
    if (at[0] >= kKernelNames.size()) return wrong("an operator's kind is unknown");
    Operator each{static_cast<Kind>(at[0]), at[1], at[2], {}};
    if (each.kind == Kind::kRelu) each.b = each.a;
    for (const uint32_t operand : {each.a, each.b}) {
      if (operand >= result) return wrong("an operand is not made yet");
      if (plan.elements[operand] != plan.elements[result]) return wrong("sizes do not fit");
    }
    each.identifier = std::string(kIdentifierPrefix) + std::to_string(at[3]);
    plan.operators.push_back(std::move(each));
  }
  plan.outputs.assign(at, at + words[3]);
  if (std::ranges::any_of(plan.outputs, [&](uint32_t v) { return v >= values; })) {
    return wrong("an output is not a value");
  }
  return plan;
}

class ThirdDelegate final : public vitrine::Delegate {
 public:
  explicit ThirdDelegate(Plan plan) : plan_(std::move(plan)), data_(plan_.elements.size()) {
    for (size_t i = plan_.num_inputs; i < data_.size(); ++i) {
      results_.emplace_back(plan_.elements[i]);
      data_[i] = results_.back().data();
    }
  }

  Error execute(const vitrine::BackendExecutionContext& context,
                std::span<EValue* const> arguments) override {
    if (arguments.size() != plan_.num_inputs + plan_.outputs.size()) {
      return Error::make(ErrorCode::kInvalidArgument, "%zu arguments do not fit", arguments.size());
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      const bool is_input = i < plan_.num_inputs;
      const size_t value = is_input ? i : plan_.outputs[i - plan_.num_inputs];
      VITRINE_ASSIGN_OR_RETURN(Tensor* const tensor, arguments[i]->as_tensor());
      if (tensor->dtype() != ScalarType::kFloat ||
          tensor->nbytes() != plan_.elements[value] * sizeof(float)) {
        return Error::make(ErrorCode::kInvalidArgument, "argument %zu does not fit", i);
      }
      if (is_input) data_[i] = static_cast<float*>(tensor->mutable_raw_data());
    }
    for (size_t i = 0; i < plan_.operators.size(); ++i) run(context, i);
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      Tensor& output = arguments[plan_.num_inputs + i]->unchecked_tensor();
      if (output.nbytes() == 0) continue;
      std::memmove(output.mutable_raw_data(), data_[plan_.outputs[i]], output.nbytes());
    }
    return Error();
  }

 private:
  void run(const vitrine::BackendExecutionContext& context, size_t index) {
    const Operator& each = plan_.operators[index];
    const size_t result = plan_.num_inputs + index;
    TraceRecord record;
    if (context.tracer != nullptr) record.start_ns = vitrine::platform::now_ns();
    for (size_t i = 0; i < plan_.elements[result]; ++i) {
      const float a = data_[each.a][i];
      data_[result][i] = each.kind == Kind::kAdd ? a + data_[each.b][i] : std::max(a, 0.0F);
    }
    if (context.tracer == nullptr) return;
    const std::string_view kernel = kKernelNames[static_cast<size_t>(each.kind)];
    record.kind = TraceRecord::Kind::kDelegateOperator;
    record.end_ns = vitrine::platform::now_ns();
    record.name = each.identifier.c_str();
    record.metadata = kernel.data();
    record.metadata_size = static_cast<uint32_t>(kernel.size());
    record.chain_index = context.chain_index;
    record.instruction_id = context.instruction_id;
    context.tracer->record(record);
  }

  Plan plan_;
  std::vector<std::vector<float>> results_;
  std::vector<float*> data_;  // by value
};

class RuntimeBackend final : public vitrine::BackendInterface {
 public:
  const char* id() const override { return kBackendId; }
  Result<std::unique_ptr<vitrine::Delegate>> init(
      const vitrine::BackendInitContext&, std::span<const std::byte> processed,
      std::span<const vitrine::CompileSpec>) const override {
    Result<Plan> plan = read_plan(processed);
    if (!plan.ok()) return plan.take_error();
    return std::unique_ptr<vitrine::Delegate>(std::make_unique<ThirdDelegate>(std::move(*plan)));
  }
};

}  // namespace

const vitrine::BackendInterface& runtime_backend() {
  static const RuntimeBackend backend;
  return backend;
}

}  // namespace third
