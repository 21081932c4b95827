#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text/number_texts.h"
#include "inspector/join/delegate_profile.h"
#include "inspector/join/op_names.h"
#include "inspector/report/row_texts.h"
#include "tools/common/delegate_profiles.h"
#include "tools/pte_inspect/picture.h"

namespace vitrine::tools {
namespace {

using etrecord::DebugHandle;
using etrecord::EdgeNode;
using inspector::GraphPicture;
using NodeKind = GraphPicture::Kind;

constexpr size_t kNone = GraphPicture::kNoParent;
constexpr size_t kShownOps = 12;      // maximum length of a list of source ops
constexpr size_t kMaxSources = 2000;  // limit per instruction; a record may repeat nodes

// Returns the longest module path that contains both modules: "features.0".
std::string common_path(std::string_view a, std::string_view b) {
  size_t end = 0;
  for (size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const bool ends_a = i == a.size() || a[i] == '.', ends_b = i == b.size() || b[i] == '.';
    if (ends_a && ends_b) end = i;
    if (i == a.size() || i == b.size() || a[i] != b[i]) break;
  }
  return std::string(a.substr(0, end));
}

class ProgramPicture {
 public:
  ProgramPicture(const etrecord::EtRecord* record, const inspector::Profile* profile,
                 const std::map<std::string, DelegationReasons>& reasons)
      : record_(record), profile_(profile), all_reasons_(reasons) {
    if (profile == nullptr) return;
    picture_.has_times = true;
    for (size_t i = 0; i < profile->rows.size(); ++i) {
      const inspector::ProfileRow& row = profile->rows[i];
      MeasuredRows& measured = times_[{row.instruction, row.identifier}];
      measured.ns += profile->typical(row.time);
      measured.rows.push_back({"", i});
    }
    for (const inspector::Profile& queue : profile->queues) add_queue(queue);
  }

  GraphPicture make(const std::vector<ProgramGraph>& methods) {
    for (const ProgramGraph& method : methods) {
      size_t parent = kNone;
      if (methods.size() > 1) parent = add_node(NodeKind::kMethod, method.name, kNone);
      method_ = nullptr;
      if (record_ != nullptr) {
        const auto found = record_->methods.find(method.name);
        if (found != record_->methods.end()) method_ = &found->second;
      }
      const auto reasons = all_reasons_.find(method.name);
      reasons_ = reasons == all_reasons_.end() ? nullptr : &reasons->second;
      has_times_ = profile_ != nullptr && profile_->method == method.name;
      add_method(method, parent);
    }
    if (record_ != nullptr) add_module_classes();
    inspector::add_module_boxes(picture_);
    return std::move(picture_);
  }

 private:
  // The last node that wrote each value, or kNone.
  using Producers = std::vector<size_t>;

  size_t add_node(NodeKind kind, std::string label, size_t parent) {
    GraphPicture::Node& node = picture_.nodes.emplace_back();
    node.kind = kind;
    node.label = std::move(label);
    node.parent = parent;
    return picture_.nodes.size() - 1;
  }

  static void add_fact(GraphPicture::Node& node, const char* name, std::string text) {
    if (!text.empty()) node.facts.emplace_back(name, short_fact(std::move(text)));
  }

  void add_edge(size_t from, size_t to, const std::string& type) {
    if (from != kNone && from != to) picture_.edges.push_back({from, to, type});
  }

  struct MeasuredRows {
    double ns = 0;
    std::vector<inspector::RowOfQueue> rows;
  };
  using RowTimes = std::map<std::pair<int32_t, std::string>, MeasuredRows>;

  // Only the first device queue counts toward the device times of nodes.
  void add_queue(const inspector::Profile& queue) {
    if (picture_.device_queue.empty()) {
      picture_.device_queue = queue.queue;
      picture_.has_device_ticks = queue.has_ticks;
    }
    for (size_t i = 0; i < queue.rows.size(); ++i) {
      const inspector::ProfileRow& row = queue.rows[i];
      if (!row.payload_operator) continue;
      MeasuredRows& measured =
          device_rows_[{row.instruction, std::to_string(*row.payload_operator)}];
      if (queue.queue == picture_.device_queue) measured.ns += queue.typical(row.time);
      measured.rows.push_back({queue.queue, i});
    }
  }

  // Moves the rows with this instruction and identifier from `times_` to the node.
  void take_rows(const GraphInstruction& instruction, const std::string& identifier, size_t node) {
    if (!has_times_ || !instruction.instruction) return;
    const auto found = times_.find({*instruction.instruction, identifier});
    if (found == times_.end()) return;
    picture_.nodes[node].time_ns += found->second.ns;
    append(found->second.rows, node);
    times_.erase(found);
  }
  void append(const std::vector<inspector::RowOfQueue>& rows, size_t node) {
    auto& list = picture_.nodes[node].rows;
    list.insert(list.end(), rows.begin(), rows.end());
  }

  // ---- Source ops

  std::vector<const EdgeNode*> nodes_of(const std::vector<DebugHandle>& handles) const {
    std::vector<const EdgeNode*> nodes;
    std::set<size_t> seen;
    for (const DebugHandle handle : handles) {
      const auto found = method_->graph.nodes_of_handle.find(handle);
      if (found == method_->graph.nodes_of_handle.end()) continue;
      for (const size_t node : found->second) {
        if (nodes.size() == kMaxSources) return nodes;
        if (seen.insert(node).second) nodes.push_back(&method_->graph.nodes[node]);
      }
    }
    return nodes;
  }

  std::vector<const EdgeNode*> nodes_of_instruction(const GraphInstruction& instruction) const {
    if (method_ == nullptr || !instruction.instruction) return {};
    const auto found = method_->handles_of_instruction.find(*instruction.instruction);
    if (found == method_->handles_of_instruction.end()) return {};
    return nodes_of(found->second);
  }

  std::vector<const EdgeNode*> nodes_of_operator(const GraphInstruction& call,
                                                 const GraphInstruction& op) const {
    using inspector::OperatorIdentity;
    const inspector::DelegateProfile* profile =
        inspector::find_profile(all_delegate_profiles(), call.name);
    if (method_ != nullptr && !op.source_handles.empty()) return nodes_of(op.source_handles);
    if (method_ == nullptr || !call.instruction || profile == nullptr || op.debug_handle == 0) {
      return {};
    }
    const OperatorIdentity identity = profile->identify(static_cast<int32_t>(op.debug_handle), {});
    if (identity.kind == OperatorIdentity::Kind::kDebugHandle) return nodes_of({identity.handle});
    const auto map = method_->delegates.find(*call.instruction);
    if (identity.kind != OperatorIdentity::Kind::kMapped || map == method_->delegates.end()) {
      return {};
    }
    const auto found = map->second.handles_of_id.find(std::to_string(op.debug_handle));
    return found == map->second.handles_of_id.end() ? std::vector<const EdgeNode*>()
                                                    : nodes_of(found->second);
  }

  static void add_sources(const std::vector<const EdgeNode*>& sources, GraphPicture::Node& node) {
    if (sources.empty()) return;
    std::vector<std::string> ops, lines;
    for (const EdgeNode* source : sources) {
      if (ops.size() == kShownOps) {
        ops.push_back(fmt::format("… {}{} in all", sources.size() == kMaxSources ? "at least " : "",
                                  sources.size()));
        break;
      }
      ops.push_back(source->target);
      const bool is_new = std::ranges::find(lines, source->model_line) == lines.end();
      if (is_new && !source->model_line.empty()) lines.push_back(source->model_line);
    }
    node.sources.clear();
    for (const EdgeNode* source : sources) {
      node.sources.push_back(source->target + " " + source->module_path);
    }
    node.module_path = sources.front()->module_path;
    for (const EdgeNode* source : sources) {
      node.module_path = common_path(node.module_path, source->module_path);
    }
    add_fact(node, sources.size() == 1 ? "source op" : "source ops",
             fmt::format("{}", fmt::join(ops, "\n")));
    add_fact(node, "source line", fmt::format("{}", fmt::join(lines, "\n")));
    if (sources.size() == 1) add_fact(node, "schema", schema_text(sources.front()->target));
  }

  void add_reasons(const std::vector<const EdgeNode*>& sources, GraphPicture::Node& node) const {
    if (reasons_ == nullptr) return;
    std::vector<DelegationReasons::Call> calls;
    for (const EdgeNode* source : sources) {
      const auto found = reasons_->of_handle.find(source->debug_handle);
      if (found == reasons_->of_handle.end()) continue;
      // Ops from one source node have the same handle, so their names must match too.
      std::ranges::copy_if(found->second, std::back_inserter(calls), [&](const auto& call) {
        return call.op == source->target && inspector::short_name(call.op) == node.label;
      });
    }
    add_fact(node, kReasonFact, reason_text(calls));
  }

  void add_module_classes() {
    std::map<std::string, std::string> classes;
    for (const auto& [name, method] : record_->methods) {
      for (const EdgeNode& node : method.graph.nodes) {
        if (!node.module_class.empty()) classes.emplace(node.module_path, node.module_class);
      }
    }
    picture_.module_classes.assign(classes.begin(), classes.end());
  }

  // ---- Nodes

  void add_method(const ProgramGraph& graph, size_t parent) {
    Producers producers(graph.values.size(), kNone);
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const size_t value = graph.inputs[i];
      producers[value] = add_node(NodeKind::kInput, fmt::format("input {}", i), parent);
      picture_.nodes.back().type = graph.values[value];
      picture_.nodes.back().note = graph.values[value];
    }
    for (const GraphInstruction& instruction : graph.instructions) {
      if (instruction.name.starts_with("free ")) continue;
      if (instruction.is_delegate) {
        add_delegate(graph, instruction, parent, producers);
      } else {
        const size_t node = add_op(graph, instruction, parent, producers);
        if (instruction.name.find("::") != std::string::npos) {  // a kernel, not a jump or a move
          add_fact(picture_.nodes[node], "kernel", instruction.name);
          picture_.nodes[node].backend = "kernels";
        }
        take_rows(instruction, "", node);
        const std::vector<const EdgeNode*> sources = nodes_of_instruction(instruction);
        add_sources(sources, picture_.nodes[node]);
        add_reasons(sources, picture_.nodes[node]);
      }
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const std::string& type = graph.values[graph.outputs[i]];
      const size_t node = add_node(NodeKind::kOutput, fmt::format("output {}", i), parent);
      picture_.nodes[node].type = type;
      picture_.nodes[node].note = type;
      add_edge(producers[graph.outputs[i]], node, type);
    }
  }

  // Adds a kernel call, or a node of a payload.
  size_t add_op(const ProgramGraph& graph, const GraphInstruction& instruction, size_t parent,
                Producers& producers) {
    const std::string& name = instruction.name;
    std::string label = name;
    if (name.find("::") != std::string::npos) {
      label = inspector::short_name(inspector::op_of_kernel(name));
    } else if (name.find(' ') == std::string::npos && name.find('.') != std::string::npos) {
      label = inspector::short_name(name);
    }
    const size_t node = add_node(NodeKind::kOp, std::move(label), parent);
    connect(graph, instruction, node, producers);
    GraphPicture::Node& op = picture_.nodes[node];
    add_fact(op, "arguments", fmt::format("{}", fmt::join(instruction.arguments, ", ")));
    add_fact(op, "position", instruction.id);
    return node;
  }

  // Adds the profile rows of a device, and the source ops of these rows.
  void add_device_rows(const GraphInstruction& call, size_t index, GraphPicture::Node& op) const {
    if (!has_times_ || !call.instruction) return;
    const auto found = device_rows_.find({*call.instruction, std::to_string(index)});
    if (found == device_rows_.end()) return;
    op.device_time = found->second.ns;
    op.rows = found->second.rows;
    const auto queue =
        std::ranges::find(profile_->queues, op.rows.front().queue, &inspector::Profile::queue);
    const inspector::ProfileRow& row = queue->rows[op.rows.front().row];
    op.module_path = inspector::module_of(row);
    add_fact(op, "source ops", fmt::format("{}", fmt::join(row.source_ops, "\n")));
    add_fact(op, "kernel", row.kernel);
  }

  // Connects the node to its inputs' producers. Records the size of its constants and its result's
  // type.
  void connect(const ProgramGraph& graph, const GraphInstruction& instruction, size_t node,
               Producers& producers) {
    GraphPicture::Node& op = picture_.nodes[node];
    uint64_t largest = 0;
    for (const size_t input :
         std::set<size_t>(instruction.inputs.begin(), instruction.inputs.end())) {
      const std::string& type = graph.values[input];
      add_edge(producers[input], node, type);
      if (producers[input] != kNone || !graph.constants[input]) continue;
      const uint64_t bytes = inspector::bytes_of_type(type);
      op.constant_bytes += bytes;
      if (bytes >= largest) op.note = type;
      largest = std::max(largest, bytes);
    }
    if (!instruction.outputs.empty()) op.type = graph.values[instruction.outputs.front()];
    for (const size_t output : instruction.outputs) producers[output] = node;
  }

  void add_delegate(const ProgramGraph& graph, const GraphInstruction& call, size_t parent,
                    Producers& producers) {
    const inspector::DelegateProfile* profile =
        inspector::find_profile(all_delegate_profiles(), call.name);
    const size_t node = add_node(NodeKind::kDelegate, call.name, parent);
    GraphPicture::Node& delegate = picture_.nodes[node];
    if (profile != nullptr && !profile->name().empty()) delegate.label = profile->name();
    delegate.backend = call.name;
    add_fact(delegate, "position", call.id);
    add_sources(nodes_of_instruction(call), delegate);
    // A payload is connected to the method's graph only if it is a single graph and has a value for
    // each argument of the delegate.
    const ProgramGraph* inside = call.payload.size() == 1 ? &call.payload.front() : nullptr;
    if (inside != nullptr && inside->externals.size() != call.tensors.size()) inside = nullptr;
    const Producers before = producers;
    if (inside == nullptr) connect(graph, call, node, producers);
    const std::set<size_t> outputs(call.outputs.begin(), call.outputs.end());
    for (const ProgramGraph& payload : call.payload) {
      const size_t box =
          call.payload.size() == 1 ? node : add_node(NodeKind::kMethod, payload.name, node);
      add_payload(call, payload, box, inside == nullptr ? nullptr : &before);
      if (inside == nullptr) continue;
      for (size_t i = 0; i < call.tensors.size(); ++i) {
        const size_t value = inside->externals[i];
        const bool is_output = outputs.contains(call.tensors[i]);
        if (is_output && value < inner_.size() && inner_[value] != kNone) {
          producers[call.tensors[i]] = inner_[value];
        } else if (is_output) {
          producers[call.tensors[i]] = node;
        }
      }
    }
    // Rows that match no node of the payload belong to the delegate.
    while (has_times_ && call.instruction) {
      const auto rest = times_.lower_bound({*call.instruction, ""});
      if (rest == times_.end() || rest->first.first != *call.instruction) break;
      picture_.nodes[node].time_ns += rest->second.ns;
      append(rest->second.rows, node);
      times_.erase(rest);
    }
    if (call.payload.empty()) {
      add_fact(picture_.nodes[node], "content", fmt::format("{}", fmt::join(call.inside, "\n")));
    }
  }

  // `outside` has the producers of the delegate's arguments, or is null if the payload is not
  // connected to the producers.
  void add_payload(const GraphInstruction& call, const ProgramGraph& payload, size_t parent,
                   const Producers* outside) {
    inner_.assign(payload.values.size(), kNone);
    for (size_t i = 0; outside != nullptr && i < call.tensors.size(); ++i) {
      const size_t value = payload.externals[i];
      if (value < inner_.size()) inner_[value] = (*outside)[call.tensors[i]];
    }
    const size_t first = picture_.nodes.size();
    std::map<uint32_t, size_t> op_count;  // number of ops by debug handle
    for (const GraphInstruction& op : payload.instructions) ++op_count[op.debug_handle];
    for (const GraphInstruction& instruction : payload.instructions) {
      const size_t node = add_op(payload, instruction, parent, inner_);
      GraphPicture::Node& op = picture_.nodes[node];
      op.backend = call.name;
      if (op_count[instruction.debug_handle] == 1) {
        take_rows(call, std::to_string(instruction.debug_handle), node);
      }
      add_device_rows(call, static_cast<size_t>(&instruction - payload.instructions.data()), op);
      add_sources(nodes_of_operator(call, instruction), op);
    }
    // The delegate belongs to the smallest module that contains all of its nodes.
    std::string path;
    bool is_first = true;
    for (size_t i = first; i < picture_.nodes.size(); ++i) {
      const std::string& module = picture_.nodes[i].module_path;
      if (module.empty()) continue;
      path = is_first ? module : common_path(path, module);
      is_first = false;
    }
    if (!is_first && picture_.nodes[parent].kind == NodeKind::kDelegate) {
      picture_.nodes[parent].module_path = path;
    }
  }

  Producers inner_;  // producers of the last payload
  const etrecord::EtRecord* record_;
  const inspector::Profile* profile_;
  const std::map<std::string, DelegationReasons>& all_reasons_;
  const DelegationReasons* reasons_ = nullptr;  // reasons of the current method
  bool has_times_ = false;                      // the profile measured this method
  // Profile rows without a node, by instruction and identifier.
  RowTimes times_;
  RowTimes device_rows_;  // rows by instruction and index of the payload's operator
  const etrecord::MethodRecord* method_ = nullptr;
  GraphPicture picture_;
};

}  // namespace

inspector::GraphPicture picture_of_program(
    const std::vector<ProgramGraph>& methods, const etrecord::EtRecord* record,
    const inspector::Profile* profile, const std::map<std::string, DelegationReasons>& reasons) {
  return ProgramPicture(record, profile, reasons).make(methods);
}

}  // namespace vitrine::tools
