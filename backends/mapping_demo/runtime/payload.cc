#include "backends/mapping_demo/runtime/payload.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/sliding_window.h"

namespace vitrine::mapping_demo {
namespace {

constexpr auto kWrong = ErrorCode::kDelegateInvalidCompatibility;

// "5#conv_relu_op,0,..."
class TextReader {
 public:
  TextReader(std::string_view text, MemoryAllocator& memory) : left_(text), memory_(memory) {}

  // Names are the payload's yet.
  Result<std::span<Operator>> read() {
    uint32_t count = 0;
    if (!number('#', &count)) {
      return Error::make(kWrong, "text: does not begin with a number and \"#\"");
    }
    // Each takes four characters at least.
    if (count > left_.size() / 4) {
      return Error::make(kWrong, "text: has no room for %u operators", count);
    }
    std::span<Operator> operators;
    VITRINE_RETURN_IF_ERROR(allocate(memory_, count, &operators));
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t id = 0;
      const std::string_view name = until(',');
      if (name.empty() || !number(',', &id) || id > INT32_MAX) {
        return Error::make(kWrong, "text: operator %u is not \"name,identifier,\"", i);
      }
      operators[i].name = name;
      operators[i].debug_id = static_cast<int32_t>(id);
    }
    if (!left_.empty()) return Error::make(kWrong, "text: continues after its %u operators", count);
    return operators;
  }

 private:
  std::string_view until(char end) {
    const size_t length = left_.find(end);
    if (length == std::string_view::npos) return {};
    const std::string_view found = left_.substr(0, length);
    left_.remove_prefix(length + 1);
    return found;
  }

  bool number(char end, uint32_t* value) {
    const std::string_view digits = until(end);
    if (digits.empty()) return false;
    uint32_t sum = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9' || mul_overflows(sum, 10U, &sum) ||
          add_overflows(sum, static_cast<uint32_t>(c - '0'), &sum)) {
        return false;
      }
    }
    *value = sum;
    return true;
  }

  std::string_view left_;
  MemoryAllocator& memory_;
};

class PlanReader {
 public:
  PlanReader(std::span<const std::byte> words, Plan& plan, MemoryAllocator& memory)
      : left_(words), plan_(plan), memory_(memory) {}

  Error read() {
    uint32_t magic = 0;
    uint32_t num_values = 0;
    uint32_t num_outputs = 0;
    uint32_t num_operators = 0;
    VITRINE_RETURN_IF_ERROR(word(&magic));
    if (magic != kMagic) return Error::make(kWrong, "plan: does not begin with \"VMD1\"");
    VITRINE_RETURN_IF_ERROR(word(&num_values));
    VITRINE_RETURN_IF_ERROR(word(&plan_.num_inputs));
    VITRINE_RETURN_IF_ERROR(word(&num_outputs));
    VITRINE_RETURN_IF_ERROR(word(&num_operators));
    if (num_operators != plan_.operators.size()) {
      return Error::make(kWrong, "plan: has %u operators, the text %zu", num_operators,
                         plan_.operators.size());
    }
    if (uint64_t{plan_.num_inputs} + num_operators != num_values) {
      return Error::make(kWrong, "plan: %u values are not %u inputs and %u results", num_values,
                         plan_.num_inputs, num_operators);
    }
    VITRINE_RETURN_IF_ERROR(has_words(num_values));
    VITRINE_RETURN_IF_ERROR(has_words(num_outputs));
    VITRINE_RETURN_IF_ERROR(allocate(memory_, num_values, &plan_.values));
    for (uint32_t i = 0; i < num_values; ++i) VITRINE_RETURN_IF_ERROR(read_value(i));
    for (uint32_t i = 0; i < plan_.num_inputs; ++i) {
      uint32_t value = 0;
      VITRINE_RETURN_IF_ERROR(word(&value));
      if (value != i) return Error::make(kWrong, "plan: input %u is value %u", i, value);
    }
    VITRINE_RETURN_IF_ERROR(allocate(memory_, num_outputs, &plan_.outputs));
    for (uint32_t& output : plan_.outputs) {
      VITRINE_RETURN_IF_ERROR(word(&output));
      if (output >= num_values) {
        return Error::make(kWrong, "plan: value %u, to return, does not exist", output);
      }
    }
    for (uint32_t i = 0; i < num_operators; ++i) {
      if (Error error = read_operator(i); !error.ok()) {
        const std::string_view name = plan_.operators[i].name;
        return std::move(error).in("operator %u (%.*s)", i, static_cast<int>(name.size()),
                                   name.data());
      }
    }
    return left_.empty() ? Error()
                         : Error::make(kWrong, "plan: %zu bytes follow its end", left_.size());
  }

 private:
  Error has_words(uint64_t count) const {
    if (count <= left_.size() / 4) return Error();
    return Error::make(kWrong, "plan: ends too early");
  }

  Error word(uint32_t* value) {
    VITRINE_RETURN_IF_ERROR(has_words(1));
    std::memcpy(value, left_.data(), 4);
    left_ = left_.subspan(4);
    return Error();
  }

  Error size(int32_t* value) {
    uint32_t read = 0;
    VITRINE_RETURN_IF_ERROR(word(&read));
    if (read > INT32_MAX) return Error::make(kWrong, "plan: the size %u is too large", read);
    *value = static_cast<int32_t>(read);
    return Error();
  }

  Error sizes(std::span<int32_t> values) {
    for (int32_t& value : values) VITRINE_RETURN_IF_ERROR(size(&value));
    return Error();
  }

  Error floats(int64_t count, std::span<const float>* values) {
    VITRINE_RETURN_IF_ERROR(has_words(static_cast<uint64_t>(count)));
    std::span<float> copy;
    VITRINE_RETURN_IF_ERROR(allocate(memory_, static_cast<size_t>(count), &copy));
    if (count > 0) std::memcpy(copy.data(), left_.data(), copy.size_bytes());
    left_ = left_.subspan(copy.size_bytes());
    *values = copy;
    return Error();
  }

  Error read_value(uint32_t index) {
    uint32_t rank = 0;
    VITRINE_RETURN_IF_ERROR(word(&rank));
    if (rank > kMaxRank) return Error::make(kWrong, "value %u: has the rank %u", index, rank);
    Sizes& value = plan_.values[index];
    value.rank = rank;
    VITRINE_RETURN_IF_ERROR(sizes({value.items.data(), rank}));
    VITRINE_ASSIGN_OR_RETURN(const int64_t count, checked_numel(value.used()));
    if (index < plan_.num_inputs) return Error();
    if (count > (kMaxResultBytes - result_bytes_) / 4) {
      return Error::make(kWrong, "value %u: results take more than %lld bytes", index,
                         static_cast<long long>(kMaxResultBytes));
    }
    result_bytes_ += count * 4;
    return Error();
  }

  Error read_operator(uint32_t index) {
    Operator& made = plan_.operators[index];
    uint32_t kind = 0;
    VITRINE_RETURN_IF_ERROR(word(&kind));
    if (kind >= kOperators.size()) return Error::make(kWrong, "kind %u does not exist", kind);
    if (made.name != kOperators[kind].name) {
      return Error::make(kWrong, "is of kind %s", kOperators[kind].name);
    }
    made.name = kOperators[kind].name;  // which stays
    made.kind = static_cast<OperatorKind>(kind);
    VITRINE_RETURN_IF_ERROR(word(&made.result));
    if (made.result != plan_.num_inputs + index) {
      return Error::make(kWrong, "makes value %u", made.result);
    }
    for (uint32_t i = 0; i < kOperators[kind].num_inputs; ++i) {
      VITRINE_RETURN_IF_ERROR(word(&made.inputs[i]));
      if (made.inputs[i] >= made.result) {
        return Error::make(kWrong, "reads value %u, which is not made yet", made.inputs[i]);
      }
    }
    if (made.kind == OperatorKind::kConvRelu) return read_convolution(made);
    for (uint32_t i = 0; i < kOperators[kind].num_inputs; ++i) {
      if (!std::ranges::equal(plan_.values[made.inputs[i]].used(),
                              plan_.values[made.result].used())) {
        return Error::make(kWrong, "input %u has other sizes than its result", i);
      }
    }
    return Error();
  }

  Error read_convolution(Operator& made) {
    Convolution& conv = made.convolution;
    VITRINE_RETURN_IF_ERROR(sizes(conv.stride));
    VITRINE_RETURN_IF_ERROR(sizes(conv.padding));
    VITRINE_RETURN_IF_ERROR(sizes(conv.dilation));
    VITRINE_RETURN_IF_ERROR(size(&conv.groups));
    VITRINE_RETURN_IF_ERROR(sizes(conv.weight_sizes));
    uint32_t has_bias = 0;
    VITRINE_RETURN_IF_ERROR(word(&has_bias));
    if (has_bias > 1) return Error::make(kWrong, "the word for the bias is %u", has_bias);
    VITRINE_RETURN_IF_ERROR(
        check_shapes(conv, plan_.values[made.inputs[0]], plan_.values[made.result]));
    VITRINE_ASSIGN_OR_RETURN(const int64_t count, checked_numel(conv.weight_sizes));
    VITRINE_RETURN_IF_ERROR(floats(count, &conv.weight));
    return floats(has_bias == 1 ? conv.weight_sizes[0] : 0, &conv.bias);
  }

  static Error check_shapes(const Convolution& conv, const Sizes& input, const Sizes& result) {
    if (input.rank != 4 || result.rank != 4) {
      return Error::make(kWrong, "takes and gives four dimensions");
    }
    const auto [out, in, height, width] = conv.weight_sizes;
    if (conv.groups < 1 || out < 1 || in < 1 || out % conv.groups != 0 ||
        int64_t{in} * conv.groups != input[1]) {
      return Error::make(kWrong, "%d groups do not split %d channels to %d", conv.groups, input[1],
                         out);
    }
    if (result[0] != input[0] || result[1] != out) {
      return Error::make(kWrong, "its result has other channels");
    }
    const Pair window = {height, width};
    for (size_t i = 0; i < 2; ++i) {
      const std::optional<int64_t> expected =
          window_count({window[i], conv.stride[i], conv.dilation[i], 2 * int64_t{conv.padding[i]}},
                       int64_t{input[i + 2]});
      if (!expected) return Error::make(kWrong, "window, stride and dilation are at least 1");
      if (*expected != result[i + 2]) {
        return Error::make(kWrong, "dimension %zu of its result is %d, not %lld", i + 2,
                           result[i + 2], static_cast<long long>(*expected));
      }
    }
    return Error();
  }

  std::span<const std::byte> left_;
  Plan& plan_;
  MemoryAllocator& memory_;
  int64_t result_bytes_ = 0;
};

}  // namespace

size_t numel(const Sizes& sizes) {
  size_t count = 1;
  for (const int32_t size : sizes.used()) count *= static_cast<size_t>(size);
  return count;
}

Result<Plan> read_payload(std::span<const std::byte> payload, MemoryAllocator& memory) {
  const auto end = std::find(payload.begin(), payload.end(), std::byte{0});
  const auto length = static_cast<size_t>(end - payload.begin());
  Plan plan;
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), length);
  VITRINE_ASSIGN_OR_RETURN(plan.operators, TextReader(text, memory).read());
  const size_t begin = round_up(length + 1, 4);
  if (begin >= payload.size()) {
    return Error::make(
        kWrong,
        "the payload ends with its text: ExecuTorch's demo keeps no weights, so that its programs "
        "cannot be run; lower the model with Vitrine");
  }
  VITRINE_RETURN_IF_ERROR(PlanReader(payload.subspan(begin), plan, memory).read());
  return plan;
}

}  // namespace vitrine::mapping_demo
