#include <fmt/format.h>

#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aot/graph/aot_error.h"
#include "aot/passes/pass.h"
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
  throw AotError(
      fmt::format("result {} mutates \"{}\", which is not an input", output.name, output.target));
}

bool is_mutation(const OutputSpec& output) {
  return output.kind == OutputSpec::Kind::kBufferMutation ||
         output.kind == OutputSpec::Kind::kParameterMutation ||
         output.kind == OutputSpec::Kind::kUserInputMutation;
}

// Whether the value is in the input's memory already.
bool writes_to(const Node& value, const Node& input) {
  return value.is_call() && is_in_place(value.target()) && !value.args().empty() &&
         value.args()[0].node() == &input;
}

// The input whose memory a value lies in: calls that write give what they wrote.
const Node* input_behind(const Node* value) {
  while (value != nullptr && value->is_call() && is_in_place(value->target())) {
    value = value->args().empty() ? nullptr : value->args()[0].node();
  }
  const bool is_input = value != nullptr && value->kind() == Node::Kind::kPlaceholder;
  return is_input ? value : nullptr;
}

// Writes all mutated inputs as if at once: each gets its value as it was before any is written.
class WritesBack {
 public:
  explicit WritesBack(ExportedProgram& program)
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
    size_t at = 0;  // in the results
    Node* input = nullptr;
    Node* value = nullptr;
    const Node* reads = nullptr;  // another input, which a later write overwrites
    size_t waits_for = 0;         // writes that read what this one overwrites
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
      writes_.push_back({.at = i, .input = input, .value = value});
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

  // The caller reads results after all writes.
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

  void break_cycle(const Write& write) {
    for (const size_t i : readers_[write.input]) {
      Write& reader = writes_[i];
      if (reader.reads == nullptr) continue;
      reader.value = clone(*reader.value);
      release(reader);
    }
  }

  // What the write read may be overwritten now.
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
    copy->meta.value = write.input->meta.value;  // it has no source
    results_[write.at] = copy;
    program_.signature.outputs.at(write.at).name = copy->name();
    write.is_done = true;
  }

  ExportedProgram& program_;
  Graph& graph_;
  Node& result_;
  ArgumentList results_;
  std::vector<Write> writes_;
  std::unordered_map<const Node*, std::vector<size_t>> writers_;  // by what they overwrite
  std::unordered_map<const Node*, std::vector<size_t>> readers_;  // by what they read
  std::deque<size_t> ready_;
};

}  // namespace

void write_back_buffers(ExportedProgram& program) { WritesBack(program).run(); }

}  // namespace vitrine::aot
