#include "aot/quantize/int8.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/operators/call.h"
#include "aot/passes/passes.h"
#include "aot/quantize/convert.h"
#include "aot/quantize/prepare.h"

namespace vitrine::aot {
namespace {

// A mask adds numbers below this limit to the values that softmax must ignore.
constexpr float kMaskValue = -1e4F;

constexpr std::string_view kElementwise[] = {"aten.add.Tensor", "aten.add_.Tensor",
                                             "aten.mul.Tensor", "aten.mul_.Tensor"};

using Exclusions = std::map<const Node*, std::string>;

// Excludes calls that add or multiply infinities, because int8 cannot represent infinities. Returns
// false if no call was added to `exclusions`.
bool exclude_infinite(const Annotations& annotations, const Calibration& calibration,
                      Exclusions& exclusions) {
  bool has_new = false;
  for (size_t i = 0; i < annotations.groups.size(); ++i) {
    if (!calibration.ranges[i].has_infinite) continue;
    for (const TensorUse& use : annotations.groups[i].uses) {
      const Node* call = use.user != nullptr ? use.user : use.tensor;
      const bool is_elementwise =
          call->is_call() &&
          std::ranges::any_of(kElementwise, [&](auto name) { return call->target().is(name); });
      if (!is_elementwise || exclusions.contains(call)) continue;
      exclusions[call] = "calibration found infinite values, which int8 cannot represent";
      has_new = true;
    }
  }
  return has_new;
}

// Excludes the addition of a mask (with values such as -1e9) if the scale of the sum exceeds the
// range of the masked operand. Int8 would lose the differences between the values of this operand.
bool exclude_masks(const Annotations& annotations, const Calibration& calibration,
                   Exclusions& exclusions) {
  bool has_new = false;
  for (const auto& [call, annotation] : annotations.calls) {
    const auto output = annotations.group_of.find({call, nullptr});
    if (!call->is_call() || annotation.inputs.size() != 2 || exclusions.contains(call) ||
        output == annotations.group_of.end() ||
        (!call->target().is(kElementwise[0]) && !call->target().is(kElementwise[1]))) {
      continue;
    }
    const float step = calibration.ranges[output->second].scales.at(0);
    // clang 14 cannot capture structured bindings without initializers.
    const auto range_of = [&, call = call,
                           &inputs = annotation.inputs](size_t i) -> const ObservedRange& {
      return calibration.ranges[annotations.group_of.at({inputs[i].first, call})];
    };
    for (const size_t mask : {size_t{0}, size_t{1}}) {
      const ObservedRange& values = range_of(1 - mask);
      if (range_of(mask).low > kMaskValue || values.low == values.high ||
          values.high - values.low >= step) {
        continue;
      }
      exclusions[call] = fmt::format(
          "its operand {} is a mask that contains {:g}; at that scale, int8 cannot represent the "
          "other operand",
          annotation.inputs[mask].first->name(), range_of(mask).low);
      has_new = true;
    }
  }
  return has_new;
}

std::string module_of(const Node& node) {
  return node.meta.origin == nullptr || node.meta.origin->module_stack.empty()
             ? ""
             : node.meta.origin->module_stack.back().path;
}

// True for calls that compute floats. False for views and dropout, which do not take time.
bool computes_float(const Node& node) {
  if (!node.is_call() || node.target() == getitem() || node.tensor() == nullptr) return false;
  const ScalarType dtype = node.tensor()->dtype;
  if (dtype != ScalarType::kFloat && dtype != ScalarType::kHalf && dtype != ScalarType::kBFloat16)
    return false;
  const Operator* op = operator_of(node.target());
  const bool is_free = (op != nullptr && op->may_alias() && !is_in_place(node.target())) ||
                       node.target().op().find("dropout") != std::string_view::npos;
  return !is_free && !node.inputs().empty();
}

const char* reason_of_operator(const Node& node, const Int8Options& options) {
  if (options.scheme.is_dynamic) return "int8_dynamic covers only linear layers and convolutions";
  if (keeps_scale(node)) return "its input is float";
  return "int8 does not cover this operator";
}

void describe(const ExportedProgram& program, const Annotations& annotations,
              const Int8Options& options, Int8Result& result) {
  for (Node& node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    if (annotations.has_content(&node)) {
      ++result.int8_calls;
      continue;
    }
    const auto found = annotations.reasons.find(&node);
    if (found == annotations.reasons.end() && !computes_float(node)) continue;
    result.floats.push_back(
        {node.name(), node.target().name(), module_of(node),
         found != annotations.reasons.end() ? found->second : reason_of_operator(node, options)});
  }
}

void list_tensors(const ExportedProgram& program, const Annotations& annotations,
                  const Calibration& calibration, Int8Result& result) {
  for (size_t i = 0; i < annotations.groups.size(); ++i) {
    const ObserverGroup& group = annotations.groups[i];
    for (const Node* tensor : group.tensors) {
      QuantizedTensor made;
      made.name = tensor->name();
      if (const InputSpec* spec = program.input_of(tensor->name())) made.target = spec->target;
      made.spec = group.spec;
      made.range = calibration.ranges[i];
      made.observer = i;
      for (const TensorUse& use : group.uses) {
        if (use.tensor != tensor) continue;
        if (use.user == nullptr) {
          made.is_output = true;
        } else {
          made.users.push_back(use.user->name());
        }
      }
      result.tensors.push_back(std::move(made));
    }
  }
}

}  // namespace

bool operator==(const Int8Options& a, const Int8Options& b) {
  return a.scheme == b.scheme &&
         std::ranges::equal(a.rules, b.rules, [](const Int8Rule& x, const Int8Rule& y) {
           return x.pattern == y.pattern && x.scheme == y.scheme && x.kept_as == y.kept_as;
         });
}

Int8Result quantize_to_int8(ExportedProgram& program, const Int8Options& options,
                            const CalibrationData& data,
                            const std::function<void(size_t)>& progress) {
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call() && node.target().op().starts_with("quantize_")) {
      fail_at(node, "the model is already quantized");
    }
  }
  const Pass passes[] = {{"inline_wrapped", inline_wrapped},
                         {"fold_batch_norms_into_layers", fold_batch_norms_into_layers},
                         {"store_scalars", store_scalars}};
  run_passes(program, passes);
  Exclusions exclusions;
  Annotations annotations = annotate(program, options, exclusions);
  if (annotations.groups.empty()) {
    throw NothingToQuantize(
        "nothing in the model can become int8; export it with torch.export.export, without "
        "run_decompositions()");
  }
  Calibration calibration = calibrate(program, annotations, data, progress);
  while (exclude_infinite(annotations, calibration, exclusions) ||
         exclude_masks(annotations, calibration, exclusions)) {
    annotations = annotate(program, options, exclusions);
    calibration = calibrate(program, annotations, data, progress);
  }
  Int8Result result;
  for (const auto& [call, reason] : exclusions) {
    result.notes.push_back(fmt::format("not quantized: {}: {}", call->name(), reason));
  }
  std::ranges::sort(result.notes);  // the order of pointers varies
  describe(program, annotations, options, result);
  list_tensors(program, annotations, calibration, result);
  convert(program, annotations, calibration);
  return result;
}

}  // namespace vitrine::aot
