#include "test/corruption/random_program.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/reader/datatype.h"
#include "test/corruption/sample_payloads.h"
#include "test/kernels/argument_values.h"
#include "test/kernels/hostile_values.h"
#include "test/kernels/op_arguments.h"
#include "test/support/choices.h"

namespace vitrine::test {
namespace {

using schema::program::InstructionArguments;
using schema::program::TensorShapeDynamism;

constexpr size_t kMaxSteps = 12;
constexpr uint64_t kMaxArena = uint64_t{1}
                               << 17;  // in bytes; run_sequence allows blocks of twice this size

const std::vector<OpCall>& calls() {
  static const std::vector<OpCall> all = all_op_calls();
  return all;
}

struct Payload {
  Bytes bytes;
  std::vector<PayloadValue> arguments;  // in the order of the delegate call's arguments
};

const std::vector<Payload>& payloads() {
  static const auto all = [] {
    std::vector<Payload> result;
    std::vector<SamplePayload> samples = sample_payloads();
    for (SamplePayload& sample : samples) {
      Payload& payload = result.emplace_back();
      payload.bytes = sample.builder.build();
      std::ranges::copy_if(
          sample.builder.values, std::back_inserter(payload.arguments),
          [](const PayloadValue& value) { return value.external_id != kInvalidId; });
      std::ranges::sort(payload.arguments, {}, &PayloadValue::external_id);
    }
    return result;
  }();
  return all;
}

class RandomMethod {
 public:
  RandomMethod(Choices& choose, ProgramBuilder& builder, MethodSpec& method,
               const KernelRegistry& kernels)
      : choose_(choose), builder_(builder), method_(method), kernels_(kernels) {
    condition_ = method_.boolean(choose_.one_in(2));
    last_ = method_.none();
  }

  void make() {
    const size_t steps = 1 + choose_.below(kMaxSteps);
    for (size_t i = 0; i < steps && (i == 0 || choose_.has_bytes_left()); ++i) step();
    std::vector<InstructionSpec>& chain = method_.chains.back();
    for (InstructionSpec& instruction : chain) {
      const bool jumps = instruction.kind == InstructionArguments::JumpFalseCall;
      if (jumps && !choose_.one_in(16)) instruction.second %= static_cast<int32_t>(chain.size());
    }
    if (choose_.one_in(3)) replace_argument(chain);
    // The arena has the size that the tensors need. In a few programs, it is 16 bytes smaller.
    const uint64_t missing = choose_.one_in(16) ? 16 : 0;
    method_.buffer_sizes = {0, static_cast<int64_t>(arena_ - std::min(arena_, missing))};
    const size_t count = std::min<size_t>(written_.size(), 1 + choose_.below(3));
    method_.outputs.assign(written_.end() - static_cast<ptrdiff_t>(count), written_.end());
  }

 private:
  using Kind = Argument::Kind;

  struct PlannedTensor {
    int index;  // of its value
    Argument argument;
    Planned location;
  };

  void step() {
    switch (choose_.below(10)) {
      case 6:
        return call_delegate();
      case 7:  // jumps forward or backward
        return method_.jump_false(choose_.one_in(2) ? condition_ : any_value(),
                                  static_cast<int>(choose_.below(kMaxSteps)));
      case 8:
        return move();
      case 9:
        return method_.free(any_value());
      default:
        return call_kernel();
    }
  }

  void call_kernel() {
    OpCall call = calls()[choose_.below(calls().size())];
    while (choose_.one_in(4)) damage(call.arguments);
    std::vector<int32_t> args;
    for (const Argument& argument : call.arguments) {
      args.push_back(argument.kind == Kind::kSame ? last_ : value(argument));
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (call.arguments[i].kind == Kind::kSame) {
        args[i] = args[static_cast<size_t>(call.arguments[i].integer)];
      }
    }
    // All remaining arguments of the kernel are its return value: its first output, or None if it
    // has no output.
    const auto output = std::ranges::find_if(call.arguments, &Argument::output);
    const int32_t returned = output == call.arguments.end()
                                 ? method_.none()
                                 : args[static_cast<size_t>(output - call.arguments.begin())];
    const Kernel* kernel = kernels_.find(call.name).kernel;
    while (kernel != nullptr && args.size() < kernel->num_arguments) args.push_back(returned);
    const size_t dot = call.name.find('.');
    const std::string overload(dot == call.name.npos ? "" : call.name.substr(dot + 1));
    method_.kernel_call(method_.op(std::string(call.name.substr(0, dot)), overload), args);
  }

  void damage(std::vector<Argument>& arguments) {
    if (arguments.empty()) return;
    const Mutator mutator(arguments);
    const size_t index = choose_.below(arguments.size());
    std::vector<Argument> variants = mutator.variants(index);
    Argument changed = std::move(variants[choose_.below(variants.size())]);
    arguments[index] = std::move(changed);
  }

  void call_delegate() {
    const Payload& payload = payloads()[choose_.below(payloads().size())];
    DelegateSpec spec{.id = "XnnpackBackend", .payload = payload.bytes};
    if (choose_.one_in(2)) spec.location = schema::program::DataLocation::SEGMENT;
    std::vector<int32_t> args;
    for (const PayloadValue& payload_value : payload.arguments) {
      Argument tensor;
      tensor.kind = Kind::kTensor;
      const xnnpack::Datatype* datatype = xnnpack::find_datatype(payload_value.type);
      tensor.dtype = datatype == nullptr ? ScalarType::kBFloat16
                                         : datatype->argument.value_or(ScalarType::kFloat);
      tensor.sizes.assign(payload_value.dims.begin(), payload_value.dims.end());
      // XNN_VALUE_FLAG_EXTERNAL_OUTPUT
      tensor.output = (payload_value.flags & 2u) != 0;
      args.push_back(value(tensor));
    }
    std::vector<ScratchSpec> scratch;
    while (choose_.one_in(4)) {
      scratch.push_back(
          {.planned = Planned{1, 16 * choose_.below(16)}, .size = choose_.below(100)});
    }
    method_.delegate_call(method_.delegate(std::move(spec)), args, std::move(scratch));
  }

  // Adds a move, usually between compatible values. Most programs with a move between incompatible
  // values do not load.
  void move() {
    const int from = any_value();
    int to = any_value();
    for (int i = 0; i < 8 && !are_compatible(from, to); ++i) to = any_value();
    if (are_compatible(from, to) || choose_.one_in(16)) method_.move(from, to);
  }
  bool are_compatible(int a, int b) const {
    const ValueSpec& x = method_.values[static_cast<size_t>(a)];
    const ValueSpec& y = method_.values[static_cast<size_t>(b)];
    return x.kind == y.kind && x.tensor.dtype == y.tensor.dtype &&
           x.tensor.sizes.size() == y.tensor.sizes.size();
  }
  int any_value() { return static_cast<int>(choose_.below(method_.values.size())); }

  void replace_argument(std::vector<InstructionSpec>& chain) {
    std::vector<int32_t>& args = chain[choose_.below(chain.size())].args;
    if (!args.empty()) args[choose_.below(args.size())] = any_value();
  }

  int value(const Argument& argument) {
    switch (argument.kind) {
      case Kind::kNone:
      case Kind::kSame:
        return method_.none();
      case Kind::kInt:
      case Kind::kScalarType:
        return method_.integer(argument.integer);
      case Kind::kDouble:
        return method_.real(argument.real);
      case Kind::kBool:
        return method_.boolean(argument.integer != 0);
      case Kind::kString:
        return method_.string(argument.text);
      case Kind::kInts: {
        std::vector<int64_t> items;
        for (const int64_t number : argument.ints) items.push_back(method_.integer(number));
        return method_.int_list(std::move(items));
      }
      case Kind::kDoubles:
        return method_.double_list(argument.doubles);
      case Kind::kBools:
        return method_.bool_list({argument.bools.begin(), argument.bools.end()});
      case Kind::kTensor:
        return last_ = tensor(argument);
      case Kind::kTensors:
      case Kind::kOptionalTensors: {
        const bool optional = argument.kind == Kind::kOptionalTensors;
        std::vector<int64_t> items;
        for (const Argument& item : argument.items) {
          items.push_back(optional && !item.is_tensor() ? -1 : value(item));
        }
        return optional ? method_.optional_tensor_list(std::move(items))
                        : method_.tensor_list(std::move(items));
      }
    }
    return last_;
  }

  // Returns an existing tensor of the same dtype and sizes, or adds a new one.
  int tensor(const Argument& argument) {
    if (choose_.one_in(2)) {
      std::vector<const PlannedTensor*> fitting;
      for (const PlannedTensor& planned : planned_) {
        if (planned.argument.dtype == argument.dtype && planned.argument.sizes == argument.sizes) {
          fitting.push_back(&planned);
        }
      }
      if (!fitting.empty()) return fitting[choose_.below(fitting.size())]->index;
    }
    TensorSpec spec{.dtype = argument.dtype, .sizes = argument.sizes};
    if (argument.dim_order.size() == argument.sizes.size()) spec.dim_order = argument.dim_order;
    if (argument.output ? !argument.is_static : choose_.one_in(3))
      spec.dynamism = TensorShapeDynamism::DYNAMIC_BOUND;
    if (argument.no_memory) return method_.tensor(std::move(spec));
    const bool constant = !argument.output && (!argument.elements.empty() || choose_.one_in(3));
    if (constant) {
      const ArgumentValues values({argument});
      const auto bytes = values.bytes_of(0);
      spec.data = builder_.constant({bytes.begin(), bytes.end()});
      return method_.tensor(std::move(spec));
    }
    const Planned location = choose_location(argument);
    spec.planned = location;
    const int index = method_.tensor(std::move(spec));
    planned_.push_back({index, argument, location});
    (argument.output ? written_ : method_.inputs).push_back(index);
    return index;
  }

  // In one of five cases, returns a location 0 to 48 bytes after the start of an existing tensor.
  // Otherwise returns unused memory, or the start of the arena if the tensor does not fit.
  Planned choose_location(const Argument& argument) {
    size_t bytes = element_size(argument.dtype);
    for (const int32_t size : argument.sizes) bytes *= static_cast<size_t>(size);
    if (!planned_.empty() && choose_.one_in(5)) {
      Planned location = planned_[choose_.below(planned_.size())].location;
      location.offset += 16 * choose_.below(4);
      arena_ = std::max(arena_, location.offset + bytes);
      return location;
    }
    if (bytes > kMaxArena || arena_ + bytes > kMaxArena) return {1, 0};
    const Planned location{1, arena_};
    arena_ = (arena_ + bytes + 15) / 16 * 16;
    return location;
  }

  Choices& choose_;
  ProgramBuilder& builder_;
  MethodSpec& method_;
  const KernelRegistry& kernels_;
  uint64_t arena_ = 0;
  int condition_;
  int last_;
  std::vector<PlannedTensor> planned_;
  std::vector<int32_t> written_;
};

}  // namespace

AlignedBytes random_program(std::span<const uint8_t> choices, const KernelRegistry& kernels) {
  Choices choose(choices);
  ProgramBuilder builder;
  const size_t methods = choose.one_in(3) ? 2 : 1;
  for (size_t i = 0; i < methods; ++i) {
    RandomMethod(choose, builder, builder.method(i == 0 ? "forward" : "second"), kernels).make();
  }
  return builder.build();
}

}  // namespace vitrine::test
