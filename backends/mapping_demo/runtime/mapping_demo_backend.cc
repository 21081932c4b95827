#include "backends/mapping_demo/runtime/mapping_demo_backend.h"

#include <cstring>
#include <new>
#include <utility>

#include "backends/mapping_demo/format/operators.h"
#include "backends/mapping_demo/runtime/kernels.h"
#include "backends/mapping_demo/runtime/payload.h"
#include "runtime/platform/clock.h"

namespace vitrine {
namespace {

using mapping_demo::Operator;
using mapping_demo::OperatorKind;
using mapping_demo::Plan;

class MappingDemoDelegate final : public Delegate {
 public:
  // `budget` may be null; else it outlives the delegate.
  explicit MappingDemoDelegate(Budget* budget) : memory_(4096, budget) {}

  // All memory is taken here.
  Error load(std::span<const std::byte> payload) {
    VITRINE_ASSIGN_OR_RETURN(plan_, mapping_demo::read_payload(payload, memory_));
    VITRINE_RETURN_IF_ERROR(mapping_demo::allocate(memory_, plan_.values.size(), &data_));
    VITRINE_RETURN_IF_ERROR(mapping_demo::allocate(memory_, plan_.values.size(), &results_));
    // Results that are returned are computed in the caller's memory.
    std::span<bool> is_returned;
    VITRINE_RETURN_IF_ERROR(mapping_demo::allocate(memory_, plan_.values.size(), &is_returned));
    for (const uint32_t output : plan_.outputs) is_returned[output] = true;
    for (size_t i = plan_.num_inputs; i < plan_.values.size(); ++i) {
      if (is_returned[i]) continue;
      const size_t count = mapping_demo::numel(plan_.values[i]);
      VITRINE_RETURN_IF_ERROR(mapping_demo::allocate(memory_, count, &results_[i]));
    }
    return Error();
  }

  Error execute(const BackendExecutionContext& context,
                std::span<EValue* const> arguments) override {
    VITRINE_RETURN_IF_ERROR(bind(arguments));
    for (const Operator& each : plan_.operators) {
      const uint64_t start_ns = context.tracer == nullptr ? 0 : platform::quick_now_ns();
      run(each);
      if (context.tracer != nullptr) log(context, each, start_ns);
    }
    return return_copies(arguments);
  }

  bool is_output(size_t index) const override { return index >= plan_.num_inputs; }

  void report_memory(DelegateMemory& report) const override {
    for (const std::span<float> result : results_) {
      report.add(DelegateMemory::Kind::kWorkspace, result.data(), result.size() * sizeof(float));
    }
    for (const Operator& each : plan_.operators) {
      for (const auto* weights : {&each.convolution.weight, &each.convolution.bias}) {
        report.add(DelegateMemory::Kind::kConstants, weights->data(),
                   weights->size() * sizeof(float));
      }
    }
  }

 private:
  // Where each value is in this execution.
  Error bind(std::span<EValue* const> arguments) {
    if (arguments.size() != plan_.num_inputs + plan_.outputs.size()) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "the delegate has %zu arguments, but is called with %zu",
                         plan_.num_inputs + plan_.outputs.size(), arguments.size());
    }
    for (size_t i = 0; i < plan_.values.size(); ++i) data_[i] = results_[i].data();
    for (size_t i = 0; i < plan_.num_inputs; ++i) {
      VITRINE_RETURN_IF_ERROR(check(arguments[i], plan_.values[i].used(), i));
      if (!arguments[i]->unchecked_tensor().is_readable()) {
        return Error::make(ErrorCode::kInvalidArgument, "argument %zu: has no data", i);
      }
      // Inputs are only read: no operator's result is one.
      data_[i] = static_cast<float*>(arguments[i]->unchecked_tensor().mutable_raw_data());
    }
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const size_t index = plan_.num_inputs + i;
      const uint32_t value = plan_.outputs[i];
      VITRINE_RETURN_IF_ERROR(check(arguments[index], plan_.values[value].used(), index));
      Tensor& tensor = arguments[index]->unchecked_tensor();
      if (!tensor.is_writable()) {
        return Error::make(ErrorCode::kInvalidArgument, "argument %zu: cannot be written", index);
      }
      if (value >= plan_.num_inputs && data_[value] == nullptr) {
        data_[value] = tensor.unchecked_mutable_data<float>();
      }
    }
    return Error();
  }

  static Error check(const EValue* value, std::span<const int32_t> sizes, size_t index) {
    if (!value->is_tensor()) {
      return Error::make(ErrorCode::kInvalidArgument, "argument %zu: is not a tensor", index);
    }
    const Tensor& tensor = value->unchecked_tensor();
    if (tensor.dtype() == ScalarType::kFloat && tensor.is_contiguous() && tensor.has_sizes(sizes)) {
      return Error();
    }
    char text[96];
    describe(tensor, text, sizeof(text));
    return Error::make(ErrorCode::kInvalidArgument,
                       "argument %zu: is %s; the program was lowered for other sizes, or it is not "
                       "f32 and row-major",
                       index, text);
  }

  // Values that are returned twice, or come in and go out.
  Error return_copies(std::span<EValue* const> arguments) {
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      Tensor& tensor = arguments[plan_.num_inputs + i]->unchecked_tensor();
      const float* from = data_[plan_.outputs[i]];
      if (tensor.raw_data() == from || tensor.nbytes() == 0) continue;
      std::memmove(tensor.mutable_raw_data(), from, tensor.nbytes());
    }
    return Error();
  }

  void run(const Operator& each) {
    const auto input = [&](size_t i) {
      const uint32_t value = each.inputs[i];
      return std::span<const float>(data_[value], mapping_demo::numel(plan_.values[value]));
    };
    float* result = data_[each.result];
    switch (each.kind) {
      case OperatorKind::kConvRelu:
        return conv_relu(each.convolution, plan_.values[each.inputs[0]], data_[each.inputs[0]],
                         plan_.values[each.result], result);
      case OperatorKind::kSin:
        return mapping_demo::sin(input(0), result);
      case OperatorKind::kCos:
        return mapping_demo::cos(input(0), result);
      case OperatorKind::kDiv:
        return mapping_demo::div(input(0), data_[each.inputs[1]], result);
    }
  }

  static void log(const BackendExecutionContext& context, const Operator& each, uint64_t start_ns) {
    TraceRecord record;
    record.kind = TraceRecord::Kind::kDelegateOperator;
    record.start_ns = start_ns;
    record.end_ns = platform::quick_now_ns();
    record.metadata = each.name.data();
    record.metadata_size = static_cast<uint32_t>(each.name.size());
    record.chain_index = context.chain_index;
    record.instruction_id = context.instruction_id;
    record.delegate_debug_id = each.debug_id;
    context.tracer->record(record);
  }

  HeapArena memory_;  // of all below
  Plan plan_;
  std::span<std::span<float>> results_;  // by value; empty if it is elsewhere
  std::span<float*> data_;               // by value
};

class MappingDemoBackend final : public BackendInterface {
 public:
  const char* id() const override { return mapping_demo::kBackendId; }
  Result<std::unique_ptr<Delegate>> init(const BackendInitContext& context,
                                         std::span<const std::byte> processed,
                                         std::span<const CompileSpec>) const override {
    // Each word of a payload is an item.
    if (context.load_steps != nullptr && !context.load_steps->take(processed.size() / 4)) {
      return Error::make(ErrorCode::kOutOfResources,
                         "more than %llu items to read (max_load_steps)",
                         static_cast<unsigned long long>(context.load_steps->limit()));
    }
    std::unique_ptr<MappingDemoDelegate> delegate(new (std::nothrow)
                                                      MappingDemoDelegate(context.memory));
    if (!delegate) {
      return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a delegate");
    }
    VITRINE_RETURN_IF_ERROR(delegate->load(processed));
    return std::unique_ptr<Delegate>(std::move(delegate));
  }
};

}  // namespace

const BackendInterface& mapping_demo_backend() {
  static const MappingDemoBackend backend;
  return backend;
}

}  // namespace vitrine
