#include "demo_backend/runtime.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "demo_backend/payload.h"
#include "vitrine/value_tracer.h"

namespace demo {
namespace {

using vitrine::BackendExecutionContext;
using vitrine::DelegateMemory;
using vitrine::Error;
using vitrine::ErrorCode;
using vitrine::EValue;
using vitrine::Result;
using vitrine::Tensor;
using vitrine::TraceRecord;

// Returns nanoseconds of CLOCK_MONOTONIC, the clock of all trace records.
uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}

// Convolves [n, in, h, w] to [n, out, h', w']. Negative results become 0; NaN stays NaN.
void conv_relu(const Convolution& conv, const Value& input, const float* from, const Value& result,
               float* to) {
  const auto [outputs, channels, filter_height, filter_width] = conv.weight_sizes;
  const int64_t height = input.items[2];
  const int64_t width = input.items[3];
  for (int64_t n = 0; n < result.items[0]; ++n) {
    for (int64_t out = 0; out < outputs; ++out) {
      const int64_t first = n * input.items[1] + out / (outputs / conv.groups) * channels;
      for (int64_t y = 0; y < result.items[2]; ++y) {
        for (int64_t x = 0; x < result.items[3]; ++x) {
          float sum = conv.bias.empty() ? 0.0F : conv.bias[static_cast<size_t>(out)];
          const float* filter = conv.weight.data() + out * channels * filter_height * filter_width;
          for (int64_t plane = first; plane < first + channels; ++plane) {
            for (int64_t i = 0; i < filter_height; ++i) {
              const int64_t row = y * conv.stride[0] - conv.padding[0] + i * conv.dilation[0];
              for (int64_t k = 0; k < filter_width; ++k, ++filter) {
                const int64_t column = x * conv.stride[1] - conv.padding[1] + k * conv.dilation[1];
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                sum += from[(plane * height + row) * width + column] * *filter;
              }
            }
          }
          *to++ = sum < 0 ? 0 : sum;
        }
      }
    }
  }
}

class DemoDelegate final : public vitrine::Delegate {
 public:
  // `budget` may be null; otherwise it must outlive the delegate.
  explicit DemoDelegate(vitrine::Budget* budget) : memory_(4096, budget) {}

  Error load(std::span<const std::byte> payload) {
    VITRINE_ASSIGN_OR_RETURN(graph_, read_payload(payload, memory_));
    return allocate(memory_, graph_.values.size(), data_);
  }

  Error execute(const BackendExecutionContext& context,
                std::span<EValue* const> arguments) override {
    VITRINE_RETURN_IF_ERROR(bind(arguments));
    for (size_t i = 0; i < graph_.operators.size(); ++i) {
      if (context.must_stop()) return context.stop->error();
      const Operator& each = graph_.operators[i];
      const uint64_t start_ns = context.tracer == nullptr ? 0 : now_ns();
      run(each, graph_.num_inputs + i);
      if (context.tracer != nullptr) {
        log(context, each, start_ns);
        if (vitrine::ValueTracer* const values = context.tracer->value_tracer()) {
          pass_result(context, i, *values);
        }
      }
    }
    return return_copies(arguments);
  }

  bool is_output(size_t index) const override { return index >= graph_.num_inputs; }

  void report_memory(DelegateMemory& report) const override {
    for (const Value& value : graph_.values) {
      if (value.data == nullptr) continue;
      report.add(DelegateMemory::Kind::kWorkspace, value.data, value.elements * sizeof(float));
    }
    for (const Operator& each : graph_.operators) {
      for (const auto& weights : {each.convolution.weight, each.convolution.bias}) {
        report.add(DelegateMemory::Kind::kConstants, weights.data(), weights.size_bytes());
      }
    }
  }

 private:
  Error bind(std::span<EValue* const> arguments) {
    if (arguments.size() != graph_.num_inputs + graph_.outputs.size()) {
      return Error::make(ErrorCode::kInvalidArgument,
                         "the delegate needs %zu arguments, but the call has %zu",
                         graph_.num_inputs + graph_.outputs.size(), arguments.size());
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) data_[i] = graph_.values[i].data;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const bool is_input = i < graph_.num_inputs;
      const size_t value = is_input ? i : graph_.outputs[i - graph_.num_inputs];
      VITRINE_ASSIGN_OR_RETURN(Tensor* const tensor, arguments[i]->as_tensor());
      if (tensor->dtype() != vitrine::ScalarType::kFloat || !tensor->is_contiguous() ||
          !tensor->has_sizes(graph_.values[value].sizes()) ||
          !(is_input ? tensor->is_readable() : tensor->is_writable())) {
        char text[96];
        vitrine::describe(*tensor, text, sizeof(text));
        return Error::make(
            ErrorCode::kInvalidArgument,
            "argument %zu: is %s; it must be f32 and row-major, have memory, and have the sizes "
            "for which the program was lowered",
            i, text);
      }
      // data_ also holds outputs, so its pointers are not const. Operators never write to an input.
      if (data_[value] == nullptr) data_[value] = static_cast<float*>(tensor->mutable_raw_data());
    }
    return Error();
  }

  // Copies inputs that are also outputs, and values that are returned more than once.
  Error return_copies(std::span<EValue* const> arguments) {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      Tensor& tensor = arguments[graph_.num_inputs + i]->unchecked_tensor();
      const float* from = data_[graph_.outputs[i]];
      if (tensor.raw_data() == from || tensor.nbytes() == 0) continue;
      std::memmove(tensor.mutable_raw_data(), from, tensor.nbytes());
    }
    return Error();
  }

  void run(const Operator& each, size_t result) {
    const float* from = data_[each.inputs[0]];
    const float* end = from + graph_.values[result].elements;
    float* to = data_[result];
    switch (each.kind) {
      case OperatorKind::kConvRelu:
        conv_relu(each.convolution, graph_.values[each.inputs[0]], from, graph_.values[result], to);
        return;
      case OperatorKind::kSin:
        std::transform(from, end, to, [](float x) { return std::sin(x); });
        return;
      case OperatorKind::kCos:
        std::transform(from, end, to, [](float x) { return std::cos(x); });
        return;
      case OperatorKind::kDiv:
        std::transform(from, end, data_[each.inputs[1]], to, std::divides<>());
    }
  }

  static void log(const BackendExecutionContext& context, const Operator& each, uint64_t start_ns) {
    const std::string_view name = kOperators[static_cast<size_t>(each.kind)].name;
    TraceRecord record;
    record.kind = TraceRecord::Kind::kDelegateOperator;
    record.start_ns = start_ns;
    record.end_ns = now_ns();
    record.metadata = name.data();
    record.metadata_size = static_cast<uint32_t>(name.size());
    record.chain_index = context.chain_index;
    record.instruction_id = context.instruction_id;
    record.delegate_debug_id = each.debug_id;  // or record.name, for identifiers that are texts
    context.tracer->record(record);
  }

  // Passes the result of an operator to the tracer before a later operator can change it.
  void pass_result(const BackendExecutionContext& context, size_t index,
                   vitrine::ValueTracer& tracer) {
    static constexpr auto kOrder = [] {
      std::array<uint8_t, kMaxRank> order{};
      for (size_t i = 0; i < kMaxRank; ++i) order[i] = static_cast<uint8_t>(i);
      return order;
    }();
    const size_t result = graph_.num_inputs + index;
    std::array<int32_t, kMaxRank> sizes = graph_.values[result].items;
    std::array<int64_t, kMaxRank> strides{};
    const size_t rank = graph_.values[result].rank;
    Tensor tensor(vitrine::ScalarType::kFloat, {sizes.data(), rank},
                  std::span<const uint8_t>(kOrder).first(rank), {strides.data(), rank},
                  data_[result]);
    const EValue value(&tensor);
    vitrine::TracedValue traced;
    traced.value = &value;
    traced.chain_index = context.chain_index;
    traced.instruction_id = context.instruction_id;
    traced.delegate_debug_id = graph_.operators[index].debug_id;
    traced.operator_index = static_cast<int32_t>(index);
    tracer.record_value(traced);
  }

  vitrine::HeapArena memory_;  // owns the memory of the members below
  Graph graph_;
  std::span<float*> data_;  // indexed by value; valid during an execution
};

class DemoBackend final : public vitrine::BackendInterface {
 public:
  const char* id() const override { return kBackendId; }

  Result<std::unique_ptr<vitrine::Delegate>> init(
      const vitrine::BackendInitContext& context, std::span<const std::byte> payload,
      std::span<const vitrine::CompileSpec>) const override {
    // Each word of the payload counts as one step of loading.
    if (context.load_steps != nullptr && !context.load_steps->take(payload.size() / 4)) {
      return Error::make(ErrorCode::kOutOfResources,
                         "loading needs more than %llu steps (max_load_steps)",
                         static_cast<unsigned long long>(context.load_steps->limit()));
    }
    std::unique_ptr<DemoDelegate> delegate(new (std::nothrow) DemoDelegate(context.memory));
    if (!delegate) {
      return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a delegate");
    }
    VITRINE_RETURN_IF_ERROR(delegate->load(payload));
    return std::unique_ptr<vitrine::Delegate>(std::move(delegate));
  }
};

}  // namespace

const vitrine::BackendInterface& backend() {
  static const DemoBackend demo;
  return demo;
}

}  // namespace demo
