#include "demo_backend/payload.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "vitrine/tensor.h"

namespace demo {
namespace {

using vitrine::Error;
using vitrine::ErrorCode;
using vitrine::MemoryAllocator;
using vitrine::Result;

Error invalid(const char* what) {
  return Error::make(ErrorCode::kDelegateInvalidCompatibility, "payload: %s", what);
}

Result<std::span<Operator>> read_text(std::string_view text, MemoryAllocator& memory) {
  // Removes the characters up to the first `end` from the text, and returns the characters before
  // `end`. If the text lacks `end`, returns an empty string and removes nothing.
  const auto until = [&text](char end) {
    const size_t length = text.find(end);
    if (length == std::string_view::npos) return std::string_view();
    const std::string_view found = text.substr(0, length);
    text.remove_prefix(length + 1);
    return found;
  };
  const auto parse = [](std::string_view digits, int32_t& number) {
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc() && stop == end && number >= 0;
  };
  int32_t count = 0;
  if (!parse(until('#'), count)) return invalid("does not begin with a number and \"#\"");
  // Every operator takes at least four characters. This check bounds the allocation.
  if (static_cast<size_t>(count) > text.size() / 4) return invalid("the text ends early");
  std::span<Operator> operators;
  VITRINE_RETURN_IF_ERROR(allocate(memory, static_cast<size_t>(count), operators));
  for (Operator& each : operators) {
    const auto row = std::ranges::find(kOperators, until(','), &OperatorRow::name);
    if (row == kOperators.end() || !parse(until(','), each.debug_id)) {
      return invalid("an operator does not have the form \"name,identifier,\"");
    }
    each.kind = static_cast<OperatorKind>(row - kOperators.begin());
  }
  if (!text.empty()) return invalid("more text follows the operators");
  return operators;
}

class GraphReader {
 public:
  GraphReader(std::span<const std::byte> words, Graph& graph, MemoryAllocator& memory)
      : left_(words), graph_(graph), memory_(memory) {}

  Error read() {
    if (word() != kMagic) return invalid("the words do not begin with \"VMD2\"");
    graph_.num_inputs = word();
    const uint32_t num_outputs = word();
    const uint64_t needed = uint64_t{graph_.num_inputs} + graph_.operators.size() + num_outputs;
    if (needed > words_left()) return invalid("ends early");
    const size_t num_values = graph_.num_inputs + graph_.operators.size();
    VITRINE_RETURN_IF_ERROR(allocate(memory_, num_values, graph_.values));
    VITRINE_RETURN_IF_ERROR(allocate(memory_, num_outputs, graph_.outputs));
    for (Value& value : graph_.values) VITRINE_RETURN_IF_ERROR(read_value(value));
    for (uint32_t& output : graph_.outputs) {
      output = word();
      if (output >= num_values) return invalid("the index of an output is out of range");
    }
    for (uint32_t i = 0; i < graph_.operators.size(); ++i) {
      if (Error error = read_operator(graph_.operators[i], graph_.num_inputs + i); !error.ok()) {
        return std::move(error).in("operator %u", i);
      }
    }
    if (is_damaged_) return invalid("ends early, or a size is negative");
    if (!left_.empty()) return invalid("has bytes after its end");
    return allocate_results();
  }

 private:
  size_t words_left() const { return left_.size() / 4; }

  // Returns the payload's next word. At the end of the payload, sets `is_damaged_` and returns 0.
  uint32_t word() {
    uint32_t read = 0;
    if (words_left() == 0) {
      is_damaged_ = true;
      return read;
    }
    std::memcpy(&read, left_.data(), 4);
    left_ = left_.subspan(4);
    return read;
  }

  void sizes(std::span<int32_t> values) {
    for (int32_t& value : values) {
      const uint32_t read = word();
      is_damaged_ = is_damaged_ || read > INT32_MAX;
      value = static_cast<int32_t>(read & INT32_MAX);
    }
  }

  Error floats(int64_t wanted, std::span<const float>& values) {
    const auto count = static_cast<size_t>(wanted);
    if (count > words_left()) return invalid("ends within its weights");
    std::span<float> copy;
    VITRINE_RETURN_IF_ERROR(allocate(memory_, count, copy));
    if (count != 0) std::memcpy(copy.data(), left_.data(), copy.size_bytes());
    left_ = left_.subspan(copy.size_bytes());
    values = copy;
    return Error();
  }

  Error read_value(Value& value) {
    value.rank = word();
    if (value.rank > kMaxRank) return invalid("a value has more than 16 dimensions");
    sizes({value.items.data(), value.rank});
    VITRINE_ASSIGN_OR_RETURN(const int64_t count, vitrine::checked_numel(value.sizes()));
    value.elements = static_cast<size_t>(count);
    return Error();
  }

  Error read_operator(Operator& made, uint32_t result) {
    const uint32_t num_inputs = kOperators[static_cast<size_t>(made.kind)].num_inputs;
    for (uint32_t i = 0; i < num_inputs; ++i) {
      made.inputs[i] = word();
      if (made.inputs[i] >= result) return invalid("an input does not precede the result");
      if (made.kind != OperatorKind::kConvRelu &&
          !std::ranges::equal(graph_.values[made.inputs[i]].sizes(),
                              graph_.values[result].sizes())) {
        return invalid("an input and the result have different sizes");
      }
    }
    if (made.kind != OperatorKind::kConvRelu) return Error();
    Convolution& conv = made.convolution;
    for (Pair* pair : {&conv.stride, &conv.padding, &conv.dilation}) sizes(*pair);
    sizes({&conv.groups, 1});
    sizes(conv.weight_sizes);
    const uint32_t has_bias = word();
    if (has_bias > 1 ||
        !shapes_match(conv, graph_.values[made.inputs[0]].sizes(), graph_.values[result].sizes())) {
      return invalid("the shapes of the convolution do not match");
    }
    VITRINE_ASSIGN_OR_RETURN(const int64_t count, vitrine::checked_numel(conv.weight_sizes));
    VITRINE_RETURN_IF_ERROR(floats(count, conv.weight));
    return floats(has_bias == 1 ? conv.weight_sizes[0] : 0, conv.bias);
  }

  static bool shapes_match(const Convolution& conv, std::span<const int32_t> input,
                           std::span<const int32_t> result) {
    const auto [out, in, height, width] = conv.weight_sizes;
    if (input.size() != 4 || result.size() != 4 || conv.groups < 1 || out < 1 || in < 1 ||
        out % conv.groups != 0 || int64_t{in} * conv.groups != input[1] || result[0] != input[0] ||
        result[1] != out) {
      return false;
    }
    const Pair window = {height, width};
    for (size_t i = 0; i < 2; ++i) {
      if (window[i] < 1 || conv.stride[i] < 1 || conv.dilation[i] < 1) return false;
      const int64_t reach = int64_t{window[i] - 1} * conv.dilation[i] + 1;
      const int64_t room = input[i + 2] + 2 * int64_t{conv.padding[i]} - reach;
      if (result[i + 2] != (room < 0 ? 0 : room / conv.stride[i] + 1)) return false;
    }
    return true;
  }

  // Allocates memory for results that are not outputs. The caller has memory for outputs.
  Error allocate_results() {
    size_t left = kMaxResultBytes / sizeof(float);
    for (const Value& value : graph_.values.subspan(graph_.num_inputs)) {
      if (value.elements > left) return invalid("its results need more than 1 GiB");
      left -= value.elements;
    }
    std::span<bool> is_output;
    VITRINE_RETURN_IF_ERROR(allocate(memory_, graph_.values.size(), is_output));
    for (const uint32_t output : graph_.outputs) is_output[output] = true;
    for (size_t i = graph_.num_inputs; i < graph_.values.size(); ++i) {
      if (is_output[i]) continue;
      std::span<float> data;
      VITRINE_RETURN_IF_ERROR(allocate(memory_, graph_.values[i].elements, data));
      graph_.values[i].data = data.data();
    }
    return Error();
  }

  std::span<const std::byte> left_;
  Graph& graph_;
  MemoryAllocator& memory_;
  bool is_damaged_ = false;  // true if a word is missing or a size is negative
};

}  // namespace

Result<Graph> read_payload(std::span<const std::byte> payload, MemoryAllocator& memory) {
  const std::string_view all(reinterpret_cast<const char*>(payload.data()), payload.size());
  const std::string_view text = all.substr(0, all.find('\0'));
  Graph graph;
  VITRINE_ASSIGN_OR_RETURN(graph.operators, read_text(text, memory));
  const size_t begin = (text.size() + 4) / 4 * 4;
  if (begin >= payload.size()) {
    return invalid(
        "ends after its text: ExecuTorch's demo stores no weights, so its programs cannot run; "
        "lower the model with Vitrine");
  }
  VITRINE_RETURN_IF_ERROR(GraphReader(payload.subspan(begin), graph, memory).read());
  return graph;
}

}  // namespace demo
