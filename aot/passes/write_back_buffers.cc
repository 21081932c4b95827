#include <fmt/format.h>

#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aot/graph/aot_error.h"
#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

Node* mutated_input(ExportedProgram& program, const OutputSpec& output) {
  for (const InputSpec& input : program.signature.inputs) {
    const bool matches =
        (output.kind == OutputSpec::Kind::kBufferMutation &&
         input.kind == InputSpec::Kind::kBuffer && input.target == output.target) ||
        (output.kind == OutputSpec::Kind::kParameterMutation &&
         input.kind == InputSpec::Kind::kParameter && input.target == output.target) ||
        (output.kind == OutputSpec::Kind::kUserInputMutation && input.name == output.target);
    if (matches) return program.graph->find(input.name);
  }
  throw AotError(fmt::format("result {} is the new value of \"{}\", which is not an input",
                             output.name, output.target));
}

bool is_mutation(const OutputSpec& output) {
  return output.kind == OutputSpec::Kind::kBufferMutation ||
         output.kind == OutputSpec::Kind::kParameterMutation ||
         output.kind == OutputSpec::Kind::kUserInputMutation;
}

// True if an in-place call has already written the value to the input's memory.
bool writes_to(const Node& value, const Node& input) {
  return value.is_call() && is_in_place(value.target()) && !value.args().empty() &&
         value.args()[0].node() == &input;
}

// Returns the input whose memory contains the value, or null.
const Node* input_behind(const Node* value) {
  while (value != nullptr && value->is_call() && is_in_place(value->target())) {
    value = value->args().empty() ? nullptr : value->args()[0].node();
  }
  const bool is_input = value != nullptr && value->kind() == Node::Kind::kPlaceholder;
  return is_input ? value : nullptr;
}

// Writes the new values of all mutated inputs. Orders the writes, and copies values if necessary,
// so that no write reads a changed value.
class BufferWriter {
 public:
  explicit BufferWriter(ExportedProgram& program)
      : program_(program),
        graph_(*program.graph),
        result_(*graph_.output()),
        results_(*result_.need(0).list()) {}

  void run() {
    find_writes();
    keep_returned_values();
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (writes_[i].waits_for == 0) ready_.push_back(i);
    }
    size_t first = 0;
    while (true) {
      if (ready_.empty()) {
        while (first < writes_.size() && writes_[first].is_done) ++first;
        if (first == writes_.size()) break;
        break_cycle(writes_[first]);
      }
      Write& write = writes_[ready_.front()];
      ready_.pop_front();
      add_copy(write);
      release(write);
    }
    result_.set_args({Argument::tuple(std::move(results_))});
  }

 private:
  struct Write {
    size_t index = 0;  // index of the value among the results
    Node* input = nullptr;
    Node* value = nullptr;
    const Node* reads = nullptr;  // another mutated input that contains the value; may be null
    size_t waits_for = 0;         // number of writes that still read what this write overwrites
    bool is_done = false;
  };

  void find_writes() {
    for (size_t i = 0; i < results_.size(); ++i) {
      const OutputSpec& output = program_.signature.outputs.at(i);
      if (!is_mutation(output)) continue;
      Node* input = mutated_input(program_, output);
      Node* value = results_[i].node();
      if (value == nullptr || value == input || writes_to(*value, *input)) continue;
      writers_[input].push_back(writes_.size());
      writes_.push_back({.index = i, .input = input, .value = value});
    }
    for (size_t i = 0; i < writes_.size(); ++i) {
      Write& write = writes_[i];
      const Node* read = input_behind(write.value);
      const auto found = writers_.find(read);
      if (read == write.input || found == writers_.end()) continue;
      write.reads = read;
      readers_[read].push_back(i);
      for (const size_t writer : found->second) ++writes_[writer].waits_for;
    }
  }

  // Copies results that are in the memory of a mutated input, before writes change this memory.
  void keep_returned_values() {
    std::unordered_map<Node*, Node*> kept;
    for (size_t i = 0; i < results_.size(); ++i) {
      OutputSpec& output = program_.signature.outputs.at(i);
      Node* value = results_[i].node();
      if (is_mutation(output) || value == nullptr) continue;
      if (!writers_.contains(input_behind(value))) continue;
      Node*& copy = kept[value];
      if (copy == nullptr) copy = clone(*value);
      results_[i] = copy;
      output.name = copy->name();
    }
  }

  Node* clone(Node& value) {
    Node* copy = graph_.call(clone_target(), {&value}, {}, &result_);
    copy->meta.value = value.meta.value;
    return copy;
  }

  // Lets `write` run before the writes that read `write.input`, which then read copies.
  void break_cycle(const Write& write) {
    for (const size_t i : readers_[write.input]) {
      Write& reader = writes_[i];
      if (reader.reads == nullptr) continue;
      reader.value = clone(*reader.value);
      release(reader);
    }
  }

  // Records that `write` no longer reads another input, so that this input can be overwritten.
  void release(Write& write) {
    const Node* read = std::exchange(write.reads, nullptr);
    if (read == nullptr) return;
    for (const size_t writer : writers_.at(read)) {
      if (--writes_[writer].waits_for == 0) ready_.push_back(writer);
    }
  }

  void add_copy(Write& write) {
    Node* copy = graph_.call(Target::of("aten.copy_.default", Dialect::kEdge),
                             {write.input, write.value}, {}, &result_);
    copy->meta.value = write.input->meta.value;  // no other metadata: the copy has no source node
    results_[write.index] = copy;
    program_.signature.outputs.at(write.index).name = copy->name();
    write.is_done = true;
  }

  ExportedProgram& program_;
  Graph& graph_;
  Node& result_;
  ArgumentList results_;
  std::vector<Write> writes_;
  std::unordered_map<const Node*, std::vector<size_t>> writers_;  // keyed by the overwritten input
  std::unordered_map<const Node*, std::vector<size_t>> readers_;  // keyed by the input that is read
  std::deque<size_t> ready_;
};

}  // namespace

void write_back_buffers(ExportedProgram& program) { BufferWriter(program).run(); }

}  // namespace vitrine::aot
