#include "aot/passes/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "aot/graph/model_part.h"
#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"

namespace vitrine::aot {
namespace {

bool can_be_quantized(ScalarType dtype) {
  return dtype == ScalarType::kFloat || dtype == ScalarType::kHalf ||
         dtype == ScalarType::kBFloat16;
}

bool calls_op(const Node& node, std::string_view op) {
  return node.is_call() && node.target().is(op);
}

bool is_adapter(const std::string& weight) {
  return weight.find("lora_a") != std::string::npos || weight.find("lora_b") != std::string::npos;
}

struct EmbeddingRow {
  int bits;
  const char* target;
};
constexpr EmbeddingRow kEmbeddings[] = {
    {2, "quantized_decomposed.embedding_2bit.dtype"},
    {4, "quantized_decomposed.embedding_4bit.dtype"},
    {8, "quantized_decomposed.embedding_byte.dtype"},
};

int64_t min_value(int bits) { return -(int64_t{1} << (bits - 1)); }
int64_t max_value(int bits) { return (int64_t{1} << (bits - 1)) - 1; }

// The placeholders of a quantized weight, shared by all calls that use the weight.
struct LinearWeight {
  Node* values = nullptr;
  Node* scales = nullptr;
  Node* zero_points = nullptr;
};
struct EmbeddingWeight {
  Node* values = nullptr;
  Node* scales = nullptr;
};

class Quantizer {
 public:
  Quantizer(ExportedProgram& program, const QuantizeOptions& options)
      : program_(program), options_(options) {
    for (const WeightRule& rule : options.rules) {
      kinds_.push_back(find_part(program, rule.pattern));
      result_.is_known.push_back(kinds_.back().has_value());
    }
    result_.by_rule.resize(options.rules.size());
  }

  QuantizeResult run() {
    collect();
    for (Node* weight : order_) run_at_node(weight->name(), [&] { quantize_uses(*weight); });
    return std::move(result_);
  }

 private:
  // A call whose weight is to be quantized.
  struct Use {
    Node* call = nullptr;
    WeightScheme scheme;
    size_t rule = 0;  // index of the rule that gave the scheme; the number of rules if none did
  };
  struct Uses {
    std::vector<Use> linears;
    std::vector<Use> embeddings;
  };
  using Member = std::optional<WeightScheme>;

  void collect() {
    for (Node& node : program_.graph->nodes()) {
      if (calls_op(node, "aten.linear.default")) {
        add_use(node, 1, options_.linears, &WeightRule::linears, &Uses::linears);
      } else if (calls_op(node, "aten.embedding.default")) {
        add_use(node, 0, options_.embeddings, &WeightRule::embeddings, &Uses::embeddings);
      } else if (options_.embeddings && node.is_call() &&
                 node.target().op().starts_with("embedding_") &&
                 node.target().name_space() == "quantized_decomposed") {
        fail_at(node, "its weight is already quantized");
      }
    }
  }

  // Adds the call to the uses of its weight. The scheme comes from the first rule that applies to
  // the call, or else from `common`.
  void add_use(Node& call, size_t weight_index, const Member& common, Member WeightRule::*member,
               std::vector<Use> Uses::*to) {
    size_t rule = 0;
    for (; rule < options_.rules.size(); ++rule) {
      const WeightRule& each = options_.rules[rule];
      const bool is_float = !each.linears && !each.embeddings;
      if ((is_float || each.*member) && kinds_[rule] &&
          is_in_part(call, each.pattern, *kinds_[rule])) {
        break;
      }
    }
    const Member& scheme = rule < options_.rules.size() ? options_.rules[rule].*member : common;
    if (!scheme) return;
    if (Node* weight = stored_weight(call, weight_index)) {
      (uses_of(*weight).*to).push_back({&call, *scheme, rule});
    }
  }

  Uses& uses_of(Node& weight) {
    if (!uses_.contains(&weight)) order_.push_back(&weight);
    return uses_[&weight];
  }

  // Returns the weight's placeholder. Null if the weight is computed or mutated or cannot be
  // quantized.
  Node* stored_weight(Node& call, size_t index) {
    Node& weight = call.need_node(index);
    if (weight.is_call() && weight.target().op().starts_with("dequantize")) {
      fail_at(call, "its weight is already quantized");
    }
    const InputSpec* spec = program_.input_of(weight.name());
    const TensorData* data = spec == nullptr ? nullptr : program_.data_of(*spec);
    size_t mentions = 0;
    for (const Argument& arg : call.args())
      arg.for_each_node([&](Node* n) { mentions += n == &weight; });
    if (data == nullptr || program_.is_mutated(*spec) || data->sizes.size() != 2 ||
        !can_be_quantized(data->dtype) || data->numel() == 0 || mentions != 1) {
      return nullptr;
    }
    return &weight;
  }

  void quantize_uses(Node& weight) {
    const InputSpec spec = *program_.input_of(weight.name());
    const TensorData data = *program_.data_of(spec);
    Uses& uses = uses_.at(&weight);
    std::erase_if(uses.linears,
                  [&](const Use& use) { return should_skip(spec, data, use.scheme); });
    const size_t replaced = uses.linears.size() + uses.embeddings.size();
    if (replaced == 0) return;
    // Removes the tensor of an unused weight, so that a new weight can have its name.
    const bool is_unused = weight.users().size() == replaced;
    const auto in_state = program_.state_dict.find(spec.target);
    if (is_unused && !is_shared(spec) && in_state != program_.state_dict.end() &&
        &in_state->second == program_.data_of(spec)) {
      program_.state_dict.erase(in_state);
    }
    for_each_scheme(uses.linears, [&](const WeightScheme& scheme, std::span<const Use> same) {
      const LinearWeight made = linear_weight(weight, spec, data, scheme);
      for (const Use& use : same) replace_linear(*use.call, made, data);
    });
    for_each_scheme(uses.embeddings, [&](const WeightScheme& scheme, std::span<const Use> same) {
      const EmbeddingWeight made = embedding_weight(weight, spec, data, scheme);
      for (const Use& use : same) replace_embedding(*use.call, made, data.dtype, scheme.bits);
    });
    result_.linears += uses.linears.size();
    result_.embeddings += uses.embeddings.size();
    if (is_unused) program_.remove_input(&weight);
  }

  // Calls replace(scheme, uses) for each scheme, in the order of the schemes in `uses`.
  template <class Replace>
  void for_each_scheme(const std::vector<Use>& uses, Replace replace) {
    std::vector<Use> rest = uses;
    while (!rest.empty()) {
      const WeightScheme scheme = rest.front().scheme;
      const auto others = std::stable_partition(
          rest.begin(), rest.end(), [&](const Use& use) { return use.scheme == scheme; });
      const std::span<const Use> same(rest.begin(), others);
      replace(scheme, same);
      for (const Use& use : same) {
        if (use.rule < result_.by_rule.size()) ++result_.by_rule[use.rule];
      }
      rest.erase(rest.begin(), others);
    }
  }

  // Returns true, and records the reason, if the weight must stay float.
  bool should_skip(const InputSpec& spec, const TensorData& data, const WeightScheme& scheme) {
    const int64_t group = scheme.group;
    std::string reason;
    if (is_adapter(spec.target)) reason = "it is a LoRA adapter";
    if (group != 0 && data.sizes[1] % group != 0) {
      reason = fmt::format("its row length {} is not a multiple of the group size {}",
                           data.sizes[1], group);
    }
    if (reason.empty()) return false;
    reason = fmt::format("{}: {}", spec.target, reason);
    if (std::ranges::count(result_.skipped, reason) == 0) {
      result_.skipped.push_back(std::move(reason));
    }
    return true;
  }

  bool is_shared(const InputSpec& spec) const {
    return std::ranges::count(program_.signature.inputs, spec.target, &InputSpec::target) > 1;
  }

  // Adds a weight before `weight`. Appends a suffix to `target` if another tensor has this name.
  Node* add_weight(Node& weight, InputSpec::Kind kind, std::string target, TensorData data) {
    while (program_.state_dict.contains(target)) target += "_quantized";
    InputSpec input;
    input.kind = kind;
    input.target = target;
    std::string name =
        fmt::format("{}_{}", kind == InputSpec::Kind::kParameter ? "p" : "b", input.target);
    std::ranges::replace(name, '.', '_');
    Node* node = program_.graph->placeholder(name, &weight);
    node->meta.value =
        contiguous_spec(data.dtype, std::vector<SymInt>(data.sizes.begin(), data.sizes.end()));
    input.name = node->name();
    program_.state_dict.emplace(std::move(target), std::move(data));
    auto& inputs = program_.signature.inputs;
    inputs.insert(std::ranges::find(inputs, weight.name(), &InputSpec::name), std::move(input));
    return node;
  }

  // The new tensors have the names that unwrap_subclasses() gives to inner tensors: "fc.weight" ->
  // "fc.parametrizations.weight.original0".
  LinearWeight linear_weight(Node& weight, const InputSpec& spec, const TensorData& data,
                             const WeightScheme& scheme) {
    QuantizedWeight made = quantize_weight(data, scheme);
    TensorData zeros =
        make_tensor_data(ScalarType::kChar, made.scales.sizes,
                         std::vector<std::byte>(static_cast<size_t>(made.scales.numel())));
    const size_t name_start = spec.target.rfind('.') + 1;  // 0 if the name has no dot
    const auto add = [&](int index, TensorData inner) {
      return add_weight(
          weight, InputSpec::Kind::kParameter,
          fmt::format("{}parametrizations.{}.original{}", spec.target.substr(0, name_start),
                      spec.target.substr(name_start), index),
          std::move(inner));
    };
    LinearWeight quantized;
    quantized.values = add(0, std::move(made.values));
    quantized.scales = add(1, std::move(made.scales));
    quantized.zero_points = add(2, std::move(zeros));
    return quantized;
  }

  EmbeddingWeight embedding_weight(Node& weight, const InputSpec& spec, const TensorData& data,
                                   const WeightScheme& scheme) {
    const int bits = scheme.bits;
    QuantizedWeight made = quantize_weight(data, scheme);
    if (made.scales.sizes[1] == 1) {
      made.scales.sizes.pop_back();
      made.scales.strides.pop_back();
    }
    TensorData values = bits == 8 ? std::move(made.values) : pack_rows(made.values, bits);
    const size_t name_start = spec.target.rfind('.') + 1;
    EmbeddingWeight quantized;
    quantized.values = add_weight(weight, InputSpec::Kind::kBuffer, spec.target, std::move(values));
    quantized.scales =
        add_weight(weight, InputSpec::Kind::kBuffer, spec.target.substr(0, name_start) + "scales",
                   std::move(made.scales));
    return quantized;
  }

  static void replace_linear(Node& call, const LinearWeight& weight, const TensorData& data) {
    Node& input = call.need_node(0);
    if (input.tensor() == nullptr || input.tensor()->rank() == 0) {
      fail_at(call, "its input must be a tensor of rank 1 or more");
    }
    const int64_t columns = data.sizes[1];
    std::vector<int64_t> token(input.tensor()->rank(), 1);
    token.back() = columns;
    call.set_arg(0, quantize_tokens(call, input, token));
    const ArgumentList args = {
        weight.values,
        std::vector<int64_t>{1, columns / weight.scales->tensor()->sizes[1].value()},
        weight.scales,
        weight.zero_points,
        ScalarType::kChar,
        min_value(4),
        max_value(4)};
    call.set_arg(1, dequantize(call, args, data.dtype));
  }

  // Quantizes and dequantizes the input with a scale and a zero point per token.
  static Node* quantize_tokens(Node& call, const Node& input, const std::vector<int64_t>& token) {
    Node* x = call.need(0).node();
    const ScalarType dtype = input.tensor()->dtype;
    const std::vector<SymInt>& sizes = input.tensor()->sizes;
    const std::vector<SymInt> tokens(sizes.begin(), sizes.end() - 1);
    const int64_t quant_min = min_value(8);
    const int64_t quant_max = max_value(8);
    const TensorSpec scale = contiguous_spec(dtype, tokens);
    const TensorSpec zero_point = contiguous_spec(ScalarType::kChar, tokens);
    Node* chosen = insert_like(call, Target::of("torchao.choose_qparams_affine.default"),
                               {x, "ASYMMETRIC", token, ScalarType::kChar, quant_min, quant_max,
                                Argument(), Argument(), ScalarType::kChar},
                               {}, Value::Items{scale, zero_point});
    Node* scales = insert_like(call, getitem(), {chosen, 0}, {}, scale);
    Node* zero_points = insert_like(call, getitem(), {chosen, 1}, {}, zero_point);
    Node* quantized =
        insert_like(call, Target::of("torchao.quantize_affine.default"),
                    {x, token, scales, zero_points, ScalarType::kChar, quant_min, quant_max}, {},
                    contiguous_spec(ScalarType::kChar, sizes));
    return dequantize(
        call, {quantized, token, scales, zero_points, ScalarType::kChar, quant_min, quant_max},
        dtype);
  }

  static Node* dequantize(Node& call, const ArgumentList& args, ScalarType dtype) {
    ArgumentMap kwargs;
    if (dtype != ScalarType::kFloat) kwargs.emplace_back("output_dtype", dtype);
    return insert_like(call, Target::of("torchao.dequantize_affine.default"), args,
                       std::move(kwargs), contiguous_spec(dtype, args[0].node()->tensor()->sizes));
  }

  void replace_embedding(Node& call, const EmbeddingWeight& weight, ScalarType dtype, int bits) {
    const auto row = std::ranges::find(kEmbeddings, bits, &EmbeddingRow::bits);
    Node* made = insert_like(
        call, Target::of(row->target),
        {weight.values, weight.scales, Argument(), min_value(bits), max_value(bits), call.need(1)},
        {{"dtype", dtype}}, call.meta.value);
    replace_node(program_, call, *made);
  }

  ExportedProgram& program_;
  const QuantizeOptions& options_;
  std::vector<std::optional<PartKind>> kinds_;  // kinds of model parts, one per rule
  std::map<Node*, Uses> uses_;
  std::vector<Node*> order_;  // the weights in order of first use
  QuantizeResult result_;
};

}  // namespace

QuantizeResult quantize(ExportedProgram& program, const QuantizeOptions& options) {
  return Quantizer(program, options).run();
}

}  // namespace vitrine::aot
