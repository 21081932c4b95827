#include "aot/quantize/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "aot/graph/aot_error.h"
#include "aot/optimize/evaluate.h"
#include "aot/passes/pipelines.h"
#include "aot/quantize/stored_floats.h"
#include "aot/quantize/writes.h"
#include "kernels/optimized/optimized_kernels.h"
#include "vitrine/evalue.h"
#include "vitrine/value_tracer.h"

namespace vitrine::aot {
namespace {

// A result of a call (step) of the lowered program.
struct StepResult {
  uint32_t handle = 0;  // the debug handle of the call
  size_t index = 0;     // for calls with several results
  friend auto operator<=>(const StepResult&, const StepResult&) = default;
};

// Converts the elements of a dense tensor to f32, in their order in memory.
std::vector<float> floats_of_memory(const Tensor& tensor) {
  TensorData data;
  data.dtype = tensor.dtype();
  data.sizes = {tensor.numel()};
  data.strides = {1};
  data.storage = {static_cast<const std::byte*>(tensor.raw_data()), tensor.nbytes()};
  return floats_of(data);
}

class Observer {
 public:
  explicit Observer(const Int8Spec& spec) : spec_(spec) {}

  void observe(const TensorData& data) {
    if (spec_.kind == Int8Spec::Kind::kDynamicActivation) return;
    const std::vector<float> values = floats_of(data);
    if (!spec_.is_weight()) return histogram_.observe(values);
    size_t channels = 1;
    size_t inner = std::max<size_t>(values.size(), 1);
    if (spec_.kind == Int8Spec::Kind::kChannelWeight) {
      const auto axis = static_cast<size_t>(spec_.axis);
      if (axis >= data.sizes.size()) throw AotError("it has too few dims for a scale per channel");
      channels = static_cast<size_t>(data.sizes[axis]);
      inner = 1;
      for (size_t i = axis + 1; i < data.sizes.size(); ++i)
        inner *= static_cast<size_t>(data.sizes[i]);
    }
    if (!min_max_) min_max_.emplace(channels);
    min_max_->observe(values, inner);
  }
  // Reads activations in memory order. The order of elements matters only for weights.
  void observe(const Tensor& tensor) {
    if (spec_.is_weight()) return observe(copy_of(tensor));
    if (spec_.kind == Int8Spec::Kind::kDynamicActivation) return;
    if (tensor.dtype() != ScalarType::kFloat) return histogram_.observe(floats_of_memory(tensor));
    histogram_.observe(
        {static_cast<const float*>(tensor.raw_data()), static_cast<size_t>(tensor.numel())});
  }

  ObservedRange result() const {
    ObservedRange made;
    if (spec_.is_weight()) {
      if (min_max_) made.scales = min_max_->scales(spec_.quant_min(), Int8Spec::quant_max());
      return made;
    }
    if (spec_.kind == Int8Spec::Kind::kDynamicActivation) return made;
    made.has_infinite = histogram_.has_infinite();
    if (histogram_.is_empty()) {
      made.scales = {1};
      return made;
    }
    const HistogramObserver::Range range = histogram_.search();
    const AffineParameters chosen =
        affine_parameters(range.low, range.high, spec_.quant_min(), Int8Spec::quant_max());
    made.scales = {chosen.scale};
    made.zero_point = chosen.zero_point;
    made.low = histogram_.low();
    made.high = histogram_.high();
    made.first_bin = range.first_bin;
    made.last_bin = range.last_bin;
    return made;
  }

 private:
  Int8Spec spec_;
  HistogramObserver histogram_;
  std::optional<MinMaxObserver> min_max_;
};

class Calibrator {
 public:
  Calibrator(const ExportedProgram& program, const Annotations& annotations)
      : program_(program), annotations_(annotations), computed_(computed_constants(program)) {
    for (const ObserverGroup& group : annotations.groups) observers_.emplace_back(group.spec);
    for (size_t i = 0; i < annotations.groups.size(); ++i) {
      for (Node* tensor : annotations.groups[i].tensors) groups_[tensor].push_back(i);
    }
    // Observes tensors in graph order, like PyTorch, because the order may affect shared observers.
    for (const Node& node : program.graph->nodes()) {
      if (groups_.contains(&node)) order_.push_back(&node);
    }
  }

  void run(const CalibrationData& data, const std::function<void(size_t)>& progress) {
    if (data.count == 0) {
      observe_stored_weights();
      return;
    }
    make_method();
    for (size_t i = 0; i < data.count; ++i) {
      if (progress) progress(i);
      const CalibrationSample sample = data.read(i);
      try {
        run_sample(sample.inputs);
      } catch (const AotError& error) {
        throw AotError(fmt::format("calibration with {}: {}", sample.name, error.what()));
      }
    }
  }

  Calibration result() const {
    Calibration made;
    for (size_t i = 0; i < observers_.size(); ++i) {
      try {
        made.ranges.push_back(observers_[i].result());
      } catch (const AotError& error) {
        throw AotError(fmt::format("calibration of {}: {}",
                                   annotations_.groups[i].tensors.front()->name(), error.what()));
      }
    }
    made.constants = constants_;
    return made;
  }

 private:
  void observe(const Node& node, const auto& tensor) {
    for (const size_t group : groups_.at(&node)) {
      try {
        observers_[group].observe(tensor);
      } catch (const AotError& error) {
        throw AotError(fmt::format("the tensor {}: {}", node.name(), error.what()));
      }
    }
  }

  const TensorData* stored_data(const Node& node) const {
    const InputSpec* spec = program_.input_of(node.name());
    return spec == nullptr ? nullptr : program_.data_of(*spec);
  }

  void observe_stored_weights() {
    bool has_computed_weight = false;
    for (const Node* node : order_) {
      for (const size_t group : groups_.at(node)) {
        const Int8Spec& spec = annotations_.groups[group].spec;
        if (spec.kind == Int8Spec::Kind::kActivation) {
          throw AotError("static int8 needs calibration data (--calibrate)");
        }
        has_computed_weight |= spec.is_weight() && stored_data(*node) == nullptr;
      }
      if (const TensorData* data = stored_data(*node)) observe(*node, *data);
    }
    if (has_computed_weight) {
      throw AotError(
          "the weight of a linear layer or a convolution is computed, so int8 needs calibration "
          "data "
          "(--calibrate)");
    }
  }

  // Lowers a copy of the program. Each call of the copy has its own debug handle.
  void make_method() {
    ExportedProgram copy = program_.copy();
    Graph& graph = *copy.graph;
    const Writes writes(program_);
    ArgumentList outputs = *graph.output()->need(0).list();
    std::vector<const Node*> observed;
    for (const Node* node : order_) {
      if (!node->is_call()) continue;
      Node* source = graph.find(node->name());
      if (writes.is_written_later(*node) || !has_step(*node)) source = clone_after(*source);
      outputs.emplace_back(source);
      OutputSpec spec;
      spec.name = source->name();
      copy.signature.outputs.push_back(std::move(spec));
      observed.push_back(node);
    }
    graph.output()->set_args({Argument::tuple(std::move(outputs))});
    to_edge(copy);
    find_steps(copy, observed);
    ExecutableOptions options;
    options.elide_views = false;  // each view is a step
    to_executable(copy, options);
    method_ = std::make_unique<HostMethod>(std::move(copy), optimized::kernels());
    for (const auto& [instruction, handles] : method_->debug_info().handles) {
      if (handles.size() == 1 && handles[0] != 0) handle_of_[instruction] = handles[0];
    }
  }

  // True if one call of the lowered program computes the node's result. False for control flow.
  static bool has_step(const Node& node) {
    const Node* call = &node;
    while (call->calls(getitem()) && call->args()[0].node() != nullptr)
      call = call->args()[0].node();
    return call->is_call() && call->target().dialect() != Dialect::kHigherOrder;
  }

  static Node* clone_after(Node& node) {
    Node* clone = node.graph().call(Target::of("aten.clone.default"), {&node}, {}, node.next());
    clone->meta = node.meta;
    return clone;
  }

  // Finds the calls of the lowered program that compute the observed tensors. Removes the outputs
  // that were added for these tensors.
  void find_steps(ExportedProgram& edge, const std::vector<const Node*>& observed) {
    uint32_t handle = 0;
    for (Node& node : edge.graph->nodes()) node.meta.debug_handle = ++handle;
    for (auto& [name, subgraph] : edge.graph->subgraphs()) clear_handles(*subgraph);
    Node& output = *edge.graph->output();
    const ArgumentList all = *output.need(0).list();
    const size_t first = all.size() - observed.size();
    ArgumentList kept(all.begin(), all.begin() + static_cast<ptrdiff_t>(first));
    std::vector<OutputSpec> specs(edge.signature.outputs.begin(),
                                  edge.signature.outputs.begin() + static_cast<ptrdiff_t>(first));
    for (size_t i = 0; i < observed.size(); ++i) {
      Node* source = all[first + i].node();
      if (source == nullptr)
        throw AotError("calibration: expected a tensor as an observed value, found a number");
      StepResult step;
      const Node* call = source;
      if (call->calls(getitem())) {
        step.index = static_cast<size_t>(*call->need(1).get<int64_t>());
        call = &call->need_node(0);
      }
      step.handle = call->meta.debug_handle;
      steps_[step].push_back(observed[i]);
      if (source->kind() == Node::Kind::kPlaceholder)
        inputs_[source->name()].push_back(observed[i]);
      // Keeps an added output without other users, because lowering removes unused calls.
      if (source->users().size() == 1 && source->users().front() == &output) {
        kept.push_back(all[first + i]);
        specs.push_back(edge.signature.outputs[first + i]);
      }
    }
    output.set_args({Argument::tuple(std::move(kept))});
    edge.signature.outputs = std::move(specs);
  }

  static void clear_handles(Graph& graph) {
    for (Node& node : graph.nodes()) node.meta.debug_handle = 0;
    for (auto& [name, subgraph] : graph.subgraphs()) clear_handles(*subgraph);
  }

  void run_sample(const std::vector<TensorData>& inputs) {
    size_t next = 0;
    std::map<std::string, const TensorData*> given;
    for (const InputSpec& spec : program_.signature.inputs) {
      const Node* node = program_.graph->find(spec.name);
      if (spec.kind != InputSpec::Kind::kUserInput || node == nullptr || node->tensor() == nullptr)
        continue;
      if (next < inputs.size()) given[spec.name] = &inputs[next++];
    }
    for (const Node* node : order_) {
      if (node->is_call()) continue;
      const TensorData* stored = stored_data(*node);
      const auto found = given.find(node->name());
      if (stored != nullptr) {
        observe(*node, *stored);
      } else if (found != given.end()) {
        observe(*node, *found->second);
      }
    }
    for (const auto& [name, nodes] : inputs_) {
      // Lowering may replace a tensor with an input, for example if it removes a conversion to the
      // same dtype. Such a tensor is observed here.
      for (const Node* node : nodes) {
        if (const auto found = given.find(name); found != given.end()) {
          observe(*node, *found->second);
        }
      }
    }
    Tracer tracer(*this);
    method_->run(inputs, &tracer);
    if (tracer.error) throw AotError(*tracer.error);
  }

  class Tracer final : public ValueTracer {
   public:
    explicit Tracer(Calibrator& owner) : owner_(owner) {}
    void begin_block(const char* /*name*/) override {}
    void record(const TraceRecord& /*record*/) override {}
    bool wants_values() const override { return !error; }
    void record_value(const TracedValue& traced) override {
      if (error || traced.is_method_output) return;
      // Exceptions must not pass through the runtime.
      try {
        owner_.visit_value(traced);
      } catch (const AotError& thrown) {
        error = thrown.what();
      }
    }
    std::optional<std::string> error;

   private:
    Calibrator& owner_;
  };

  void visit_value(const TracedValue& traced) {
    const auto handle = handle_of_.find(static_cast<uint32_t>(traced.instruction_id));
    if (traced.chain_index != 0 || handle == handle_of_.end()) return;
    std::span<Tensor* const> tensors;
    Tensor* single = nullptr;
    if (traced.value->is_tensor()) {
      single = &traced.value->unchecked_tensor();
      tensors = {&single, 1};
    } else if (!traced.value->read_tensor_list(&tensors)) {
      return;
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto found = steps_.find({handle->second, i});
      if (found == steps_.end() || tensors[i] == nullptr) continue;
      for (const Node* node : found->second) {
        observe(*node, *tensors[i]);
        if (computed_.contains(node) && !constants_.contains(node)) {
          constants_.emplace(node, copy_of(*tensors[i]));
        }
      }
    }
  }

  const ExportedProgram& program_;
  const Annotations& annotations_;
  std::set<const Node*> computed_;
  std::vector<Observer> observers_;
  std::map<const Node*, std::vector<size_t>> groups_;  // groups of each tensor
  std::vector<const Node*> order_;
  std::unique_ptr<HostMethod> method_;
  std::map<uint32_t, uint32_t> handle_of_;  // keyed by instruction
  std::map<StepResult, std::vector<const Node*>> steps_;
  std::map<std::string, std::vector<const Node*>> inputs_;  // calls that became an input
  std::map<const Node*, TensorData> constants_;
};

}  // namespace

bool is_constant(const ExportedProgram& program, const Writes& writes, const Node& node) {
  return is_stored(program, node) && !program.is_mutated(*program.input_of(node.name())) &&
         !writes.is_written(node);
}

std::set<const Node*> computed_constants(const ExportedProgram& program) {
  const Writes writes(program);
  std::set<const Node*> stored;
  std::set<const Node*> computed;
  for (const Node& node : program.graph->nodes()) {
    if (is_constant(program, writes, node)) stored.insert(&node);
    if (!node.is_call() || !is_pure(node) || writes.is_written(node)) continue;
    const Operator* op = operator_of(node.target());
    const std::vector<Node*> inputs = node.inputs();
    if (inputs.empty() || (op != nullptr && op->is_nondeterministic)) continue;
    if (std::ranges::all_of(inputs, [&](const Node* input) {
          return stored.contains(input) || computed.contains(input);
        })) {
      computed.insert(&node);
    }
  }
  return computed;
}

Calibration calibrate(const ExportedProgram& program, const Annotations& annotations,
                      const CalibrationData& data, const std::function<void(size_t)>& progress) {
  Calibrator calibrator(program, annotations);
  calibrator.run(data, progress);
  return calibrator.result();
}

}  // namespace vitrine::aot
