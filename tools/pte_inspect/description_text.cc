#include "tools/pte_inspect/description_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "tools/pte_inspect/foreign_payload_text.h"

namespace vitrine::tools {
namespace {

using inspector::kDot;
using inspector::kMinWidth;
using inspector::printable;
using inspector::TextTable;
using inspector::wrap;
using Kind = TextTable::Kind;

constexpr size_t kShownRows = 12;

std::string text(const Json& value) {
  return value.is_string() ? printable(value.get_ref<const std::string&>()) : value.dump();
}

std::string counted(const Json& count, std::string_view noun) {
  return inspector::counted(count.get<size_t>(), noun);
}

std::string bytes_of(const Json& value) { return bytes_text(value.get<uint64_t>()); }

// Converts {"Conv2d": 35, "Add": 2} to "Conv2d x35" and "Add x2", the most frequent first.
std::vector<std::string> by_frequency(const Json& counts) {
  std::vector<std::pair<std::string, size_t>> sorted;
  for (const auto& [name, count] : counts.items()) sorted.emplace_back(name, count);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  parts.reserve(sorted.size());
  for (const auto& [name, count] : sorted) {
    parts.push_back(count == 1 ? printable(name) : fmt::format("{} x{}", printable(name), count));
  }
  return parts;
}

std::vector<std::string> with_commas(std::vector<std::string> parts) {
  for (size_t i = 0; i + 1 < parts.size(); ++i) parts[i] += ',';
  return parts;
}

class Printer {
 public:
  explicit Printer(const TextOptions& options) : options_(options) {
    options_.width = std::max(options_.width, kMinWidth);
  }

  std::string print(const Json& json) {
    std::vector<std::string> head = {text(json["file"]), text(json["kind"]),
                                     bytes_of(json["bytes"])};
    line("", head);
    if (json.contains("methods") && json.contains("segments")) program(json);
    if (json.contains("test_suites")) bundle(json);
    if (json.contains("named_data") && !json.contains("methods")) named_data_file(json);
    if (json.contains("profile_events")) trace(json);
    if (json.contains("xnnpack")) payload(json["xnnpack"]);
    if (json.contains("payload")) print_payload(json, "");
    if (json.contains("models")) exported(json);
    if (json.contains("methods") && json.contains("members")) record(json);
    return std::move(out_);
  }

  // Returns the description of a program inside another file.
  std::string print_program(const Json& json) {
    program(json);
    return std::move(out_);
  }

 private:
  void line(std::string_view label, const std::vector<std::string>& parts,
            std::string_view between = kDot) {
    if (!parts.empty()) out_ += wrap(label, parts, between, options_.width);
  }

  // Prints an indented table, cut after kShownRows rows unless --all is set. fill(i) adds row i.
  template <class Fill>
  void table(TextTable& table, size_t rows, Fill fill) {
    const size_t shown = options_.all || rows <= kShownRows + 2 ? rows : kShownRows;
    for (size_t i = 0; i < shown; ++i) fill(i);
    std::string lines = table.text(options_.width - 2, options_.color);
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = lines.find('\n', begin);
      out_ += "  " + lines.substr(begin, end - begin) + '\n';
      begin = end + 1;
    }
    if (shown < rows) out_ += fmt::format("  … and {} more (--all)\n", rows - shown);
  }

  void title(std::string_view name) { out_ += fmt::format("\n{}\n", name); }

  static std::string argument(const Json& value) {
    std::string result = text(value[value.contains("tensor") ? "tensor" : "value"]);
    if (value.contains("name")) result = text(value["name"]) + " " + result;
    if (value.value("dynamic", false)) result += " at most";
    if (value.contains("dim_order") && !std::ranges::is_sorted(value["dim_order"])) {
      result +=
          fmt::format(" dim order {}", fmt::join(value["dim_order"].get<std::vector<int>>(), ","));
    }
    if (!value.value("planned", true)) result += " (memory from the caller)";
    return result;
  }

  static std::vector<std::string> arguments(const Json& list) {
    std::vector<std::string> parts;
    for (const Json& value : list) parts.push_back(argument(value));
    return parts;
  }

  // ---- Programs

  void program(const Json& json) {
    uint64_t segment_bytes = 0;
    for (const Json& segment : json["segments"]) segment_bytes += segment["bytes"].get<uint64_t>();
    std::vector<std::string> facts = {fmt::format("format version {}", text(json["version"])),
                                      "flatbuffer " + bytes_of(json["flatbuffer_bytes"])};
    facts.push_back(json["segments"].empty()
                        ? "no segments"
                        : fmt::format("{}, {}", counted(json["segments"].size(), "segment"),
                                      bytes_text(segment_bytes)));
    if (!json["named_data"].empty()) {
      facts.push_back(fmt::format("{} named data", json["named_data"].size()));
    }
    line("", facts);
    for (const Json& method : json["methods"]) print_method(method);
    print_segments(json["segments"]);
  }

  void print_method(const Json& method) {
    title("method " + text(method["name"]));
    line("  in      ", arguments(method["inputs"]));
    line("  out     ", arguments(method["outputs"]));
    if (!method["unwritten_outputs"].empty()) {
      line("  broken  ",
           {fmt::format("no instruction writes output {}",
                        fmt::join(method["unwritten_outputs"].get<std::vector<size_t>>(), ", "))});
    }
    line("  runs    ", instructions(method["instructions"]));
    std::vector<std::string> memory;
    for (const Json& arena : method["memory"]) {
      memory.push_back(fmt::format("arena {}: {} for {} of {}", text(arena["id"]),
                                   bytes_of(arena["bytes"]), counted(arena["tensors"], "tensor"),
                                   bytes_of(arena["tensor_bytes"])));
    }
    add_memory(memory, method["constants"], "constant");
    add_memory(memory, method["state"], "initialized state");
    uint64_t weights = 0, foreign = 0;
    for (const Json& delegate : method["delegates"]) {
      if (delegate.contains("xnnpack"))
        weights += delegate["xnnpack"]["constant_bytes"].get<uint64_t>();
      if (delegate.contains("payload"))
        foreign += delegate["payload"]["constant_bytes"].get<uint64_t>();
    }
    if (weights != 0) memory.push_back("weights of delegates: " + bytes_text(weights));
    if (foreign != 0) {
      memory.push_back("constants in payloads of other backends: " + bytes_text(foreign));
    }
    line("  memory  ", memory);
    if (method.contains("delegate_memory")) print_loaded(method);
    line("  values  ", with_commas(by_frequency(method["values"])), " ");
    if (!method["external"].empty()) {
      std::vector<std::string> keys = method["external"].get<std::vector<std::string>>();
      for (std::string& key : keys) key = printable(key);
      line("  from a .ptd  ", with_commas(std::move(keys)), " ");
    }
    print_operators(method);
    print_delegates(method["delegates"]);
  }

  // Prints the memory of the loaded method, and lists the delegates whose memory is unknown.
  void print_loaded(const Json& method) {
    const Json& delegates = method["delegate_memory"];
    uint64_t planned = 0;
    for (const Json& arena : method["memory"]) planned += arena["bytes"].get<uint64_t>();
    uint64_t total = planned;
    std::vector<std::string> parts;
    if (planned != 0) parts.push_back("activations " + bytes_text(planned));
    constexpr std::pair<std::string_view, std::string_view> kParts[] = {
        {"packed_weights_bytes", "packed weights"},
        {"workspace_bytes", "workspace"},
        {"constants_bytes", "other constants"}};
    for (const auto& [key, label] : kParts) {
      const auto bytes = delegates[std::string(key)].get<uint64_t>();
      total += bytes;
      if (bytes != 0) parts.push_back(fmt::format("{} {}", label, bytes_text(bytes)));
    }
    const Json& unknown = delegates["unknown"];
    parts.insert(parts.begin(),
                 fmt::format("{}{} in all", unknown.empty() ? "" : "at least ", bytes_text(total)));
    if (unknown.size() < method["delegates"].size()) {
      parts.push_back(
          fmt::format("{}, {}", text(delegates["how"]), counted(delegates["threads"], "thread")));
    }
    line("  loaded  ", parts);
    for (const Json& reason : unknown) line("          not in it: ", {text(reason)});
  }

  static std::vector<std::string> instructions(const Json& counts) {
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"KernelCall", "kernel call"},
        {"DelegateCall", "delegate call"},
        {"MoveCall", "move"},
        {"JumpFalseCall", "jump"},
        {"FreeCall", "free"}};
    std::vector<std::string> parts;
    for (const auto& [format_name, word] : kWords) {
      const std::string key(format_name);
      if (counts.contains(key)) parts.push_back(counted(counts[key], word));
    }
    if (parts.empty()) parts.emplace_back("no instructions");
    return parts;
  }

  static void add_memory(std::vector<std::string>& parts, const Json& sum, std::string_view what) {
    if (sum["tensors"] == 0) return;
    parts.push_back(fmt::format("{}: {}", counted(sum["tensors"], what), bytes_of(sum["bytes"])));
  }

  void print_operators(const Json& method) {
    const Json& operators = method["operators"];
    if (operators.empty()) {
      out_ += "  no operators outside delegates\n";
      return;
    }
    std::vector<const Json*> sorted;
    for (const Json& op : operators) sorted.push_back(&op);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Json* a, const Json* b) {
      return (*a)["calls"].get<size_t>() > (*b)["calls"].get<size_t>();
    });
    out_ += '\n';
    TextTable rows;
    const bool has_dtypes = operators.front().contains("dtypes");
    rows.add_column("calls", Kind::kFigure);
    rows.add_column(method.contains("delegates") && !method["delegates"].empty()
                        ? "operator, not delegated"
                        : "operator",
                    Kind::kName);
    rows.add_column("dtypes", Kind::kName);
    table(rows, sorted.size(), [&](size_t i) {
      const Json& op = *sorted[i];
      std::string dtypes;
      if (has_dtypes)
        dtypes = fmt::format("{}", fmt::join(op["dtypes"].get<std::vector<std::string>>(), " "));
      rows.add_row({text(op["calls"]), text(op["name"]), dtypes});
    });
  }

  void print_delegates(const Json& delegates) {
    for (size_t i = 0; i < delegates.size(); ++i) {
      const Json& delegate = delegates[i];
      out_ += fmt::format("\n  delegate {}: {}\n", i, text(delegate["backend"]));
      std::vector<std::string> facts = {
          counted(delegate["calls"], "call"),
          fmt::format("payload {} ({})", bytes_of(delegate["bytes"]), text(delegate["location"]))};
      for (const Json& spec : delegate["compile_specs"]) {
        if (delegate.contains("payload")) break;  // the payload has the options with their values
        facts.push_back(fmt::format("option {} ({})", text(spec["key"]), bytes_of(spec["bytes"])));
      }
      line("    ", facts);
      if (delegate.contains("xnnpack")) print_graph(delegate["xnnpack"], "    ");
      if (delegate.contains("same_as")) line("    same payload as ", {text(delegate["same_as"])});
      if (delegate.contains("error")) line("    damaged: ", {text(delegate["error"])});
      if (delegate.contains("payload")) print_payload(delegate, "    ");
    }
  }

  // Prints a payload of a backend other than XNNPACK, and the program in the payload, if any.
  void print_payload(const Json& json, const std::string& indent) {
    out_ += foreign_payload_text(json["payload"], indent, options_);
    if (!json.contains("program")) return;
    std::string inside = Printer({options_.width - indent.size(), options_.color, options_.all})
                             .print_program(json["program"]);
    for (size_t begin = 0; begin < inside.size();) {
      const size_t end = inside.find('\n', begin);
      out_ += (begin == end ? "" : indent) + inside.substr(begin, end - begin) + '\n';
      begin = end + 1;
    }
  }

  void print_graph(const Json& graph, const std::string& indent) {
    std::vector<std::string> in, out;
    for (const Json& value : graph["inputs"]) in.push_back(text(value));
    for (const Json& value : graph["outputs"]) out.push_back(text(value));
    line(indent + "in     ", in);
    line(indent + "out    ", out);
    std::vector<std::string> sums = {counted(graph["nodes"], "node"),
                                     counted(graph["values"], "value")};
    if (graph["constants"] != 0) {
      sums.push_back(fmt::format("{}: {}", counted(graph["constants"], "constant"),
                                 bytes_of(graph["constant_bytes"])));
    }
    line(indent, sums);
    line(indent + "nodes  ", with_commas(by_frequency(graph["node_types"])), " ");
    line(indent + "types  ", with_commas(by_frequency(graph["datatypes"])), " ");
  }

  void print_segments(const Json& segments) {
    if (segments.empty()) return;
    title("segments");
    TextTable rows;
    rows.add_column("#", Kind::kFigure);
    rows.add_column("offset", Kind::kFigure);
    rows.add_column("bytes", Kind::kFigure);
    rows.add_column("holds", Kind::kName);
    table(rows, segments.size(), [&](size_t i) {
      std::string holds;
      for (const Json& use : segments[i]["holds"]) holds += (holds.empty() ? "" : ", ") + text(use);
      rows.add_row({std::to_string(i), text(segments[i]["offset"]), text(segments[i]["bytes"]),
                    holds.empty() ? "no known use" : holds});
    });
  }

  void print_named_data(const Json& entries, std::string_view name) {
    title(name);
    TextTable rows;
    rows.add_column("bytes", Kind::kFigure);
    rows.add_column("key", Kind::kName);
    rows.add_column("tensor", Kind::kName);
    table(rows, entries.size(), [&](size_t i) {
      const Json& entry = entries[i];
      const bool is_tensor = entry.contains("tensor") && !entry["tensor"].is_null();
      rows.add_row({text(entry["bytes"]), text(entry["key"]),
                    is_tensor ? text(entry["tensor"]) : std::string()});
    });
  }

  // ---- Other files

  void bundle(const Json& json) {
    std::vector<std::string> parts = {fmt::format("bundle version {}", text(json["version"]))};
    for (const Json& suite : json["test_suites"]) {
      parts.push_back(fmt::format("{} for method {}", counted(suite["test_cases"], "test"),
                                  text(suite["method"])));
    }
    line("", parts);
    out_ += fmt::format("program inside: {}\n", bytes_of(json["program"]["bytes"]));
    program(json["program"]);
  }

  void named_data_file(const Json& json) {
    line("", {fmt::format("format version {}", text(json["version"])),
              counted(json["segments"], "segment")});
    print_named_data(json["named_data"],
                     fmt::format("{} {}", json["named_data"].size(),
                                 json["named_data"].size() == 1 ? "entry" : "entries"));
  }

  void trace(const Json& json) {
    std::vector<std::string> parts = {counted(json["profile_events"], "profile event")};
    if (json["debug_events"] != 0) parts.push_back(counted(json["debug_events"], "debug event"));
    if (json["allocation_events"] != 0) {
      parts.push_back(counted(json["allocation_events"], "allocation event"));
    }
    for (const Json& block : json["blocks"]) {
      const std::string count = counted(block["blocks"], "block");
      parts.push_back(block["name"] == Json("")
                          ? count + " without a name"
                          : fmt::format("{} named {}", count, text(block["name"])));
    }
    line("", parts);
  }

  void payload(const Json& graph) {
    if (graph.contains("version")) line("", {"graph version " + text(graph["version"])});
    print_graph(graph, "");
  }

  void exported(const Json& json) {
    line("", {"layout " + text(json["layout"]), "version " + text(json["version"])});
    for (const Json& model : json["models"]) {
      title("model " + text(model["name"]));
      std::vector<std::string> facts = {"schema " + text(model["schema_version"])};
      if (model.contains("torch_version")) facts.push_back("torch " + text(model["torch_version"]));
      facts.push_back(counted(model["nodes"], "node"));
      line("  ", facts);
      line("  in   ", arguments(model["inputs"]));
      line("  out  ", arguments(model["outputs"]));
      print_operators(model);
    }
    if (!json["weights"].empty()) {
      print_named_data(json["weights"], counted(json["weights"].size(), "weight"));
    }
    if (!json["constants"].empty()) {
      print_named_data(json["constants"], counted(json["constants"].size(), "constant"));
    }
    members(json["members"]);
  }

  void record(const Json& json) {
    for (const Json& method : json["methods"]) {
      title("method " + text(method["name"]));
      line("  ", {counted(method["edge_nodes"], "node") + " of the edge graph",
                  counted(method["debug_handles"], "debug handle"),
                  counted(method["instructions"], "instruction")});
      for (const Json& delegate : method["delegates"]) {
        line("  ", {fmt::format("instruction {} is a delegate: {}", text(delegate["instruction"]),
                                text(delegate["backend"])),
                    counted(delegate["identifiers"], "identifier") + " of the delegate"});
      }
    }
    members(json["members"]);
  }

  void members(const Json& list) {
    title("members");
    TextTable rows;
    rows.add_column("bytes", Kind::kFigure);
    rows.add_column("name", Kind::kName);
    table(rows, list.size(), [&](size_t i) {
      rows.add_row({text(list[i]["bytes"]), text(list[i]["name"])});
    });
  }

  TextOptions options_;
  std::string out_;
};

void collect_operators(const Json& description, std::set<std::string>& names) {
  if (description.contains("program")) collect_operators(description["program"], names);
  if (!description.contains("methods")) return;
  for (const Json& method : description["methods"]) {
    if (!method.contains("operators")) continue;
    for (const Json& op : method["operators"]) names.insert(op["name"].get<std::string>());
  }
}

}  // namespace

std::string description_text(const Json& json, const TextOptions& options) {
  return Printer(options).print(json);
}

std::string operator_lines(const std::vector<Json>& descriptions) {
  std::set<std::string> names;
  for (const Json& description : descriptions) collect_operators(description, names);
  std::string lines;
  for (const std::string& name : names) lines += printable(name) + '\n';
  return lines;
}

std::string bytes_text(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (value < 1e6) return fmt::format("{:.1f} kB", value / 1e3);
  if (value < 1e9) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.2f} GB", value / 1e9);
}

}  // namespace vitrine::tools
