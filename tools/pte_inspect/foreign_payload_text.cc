#include "tools/pte_inspect/foreign_payload_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "tools/pte_inspect/payload_json.h"

namespace vitrine::tools {
namespace {

using inspector::kDot;
using inspector::printable;
using inspector::wrap;

constexpr size_t kShownLines = 12;
constexpr size_t kMaxOptionWidth = 160;

std::string text_in(const Json& value) { return printable(value.get_ref<const std::string&>()); }

std::string counted_in(const Json& count, std::string_view noun) {
  return inspector::counted(count.get<size_t>(), noun);
}

class PayloadPrinter {
 public:
  PayloadPrinter(const Json& payload, const std::string& indent, const TextOptions& options)
      : payload_(payload), indent_(indent), options_(options) {}

  std::string print() {
    print_head();
    line("in     ", tensors("inputs"), kDot);
    line("out    ", tensors("outputs"), kDot);
    print_totals();
    line("ops    ", frequencies("operator_types"), " ");
    line("types  ", frequencies("datatypes"), " ");
    print_options();
    print_parts();
    for (const Json& fact : payload_["facts"]) words("       ", text_in(fact));
    print_operators();
    if (payload_["closed"] != "") words("", text_in(payload_["closed"]));
    for (const Json& note : payload_["notes"]) words("note: ", text_in(note));
    return std::move(out_);
  }

 private:
  void line(std::string_view label, const std::vector<std::string>& parts,
            std::string_view between) {
    if (!parts.empty()) {
      out_ += wrap(indent_ + std::string(label), parts, between, options_.width);
    }
  }
  void words(std::string_view label, const std::string& sentence) {
    out_ += inspector::wrap_words(indent_ + std::string(label), sentence, options_.width);
  }

  void print_head() {
    std::vector<std::string> head = {text_in(payload_["kind"])};
    if (payload_["version"] != "") head.push_back("version " + text_in(payload_["version"]));
    line("", head, kDot);
  }

  // The first graph is the payload's entry point.
  std::vector<std::string> tensors(const char* which) const {
    std::vector<std::string> parts;
    if (payload_["graphs"].empty()) return parts;
    for (const Json& index : payload_["graphs"][0][which]) {
      const Json& tensor = payload_["tensors"][index.get<size_t>()];
      parts.push_back(text_in(tensor["type"]));
    }
    return parts;
  }

  void print_totals() {
    std::vector<std::string> sums;
    if (payload_["operators"] != 0) sums.push_back(counted_in(payload_["operators"], "operator"));
    if (payload_["graphs"].size() > 1)
      sums.push_back(counted_in(payload_["graphs"].size(), "graph"));
    if (!payload_["tensors"].empty())
      sums.push_back(counted_in(payload_["tensors"].size(), "tensor"));
    if (payload_["constants"] != 0) {
      sums.push_back(fmt::format("{}: {}", counted_in(payload_["constants"], "constant"),
                                 bytes_text(payload_["constant_bytes"].get<uint64_t>())));
    }
    line("", sums, kDot);
  }

  // Converts {"Conv2d": 35, "Add": 2} to "Conv2d x35," and "Add x2".
  std::vector<std::string> frequencies(const char* key) const {
    std::vector<std::pair<std::string, size_t>> sorted;
    for (const auto& [name, count] : payload_[key].items()) {
      sorted.emplace_back(printable(name), count.get<size_t>());
    }
    std::ranges::stable_sort(sorted,
                             [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> parts;
    for (const auto& [name, count] : sorted) {
      parts.push_back(count == 1 ? name : fmt::format("{} x{}", name, count));
    }
    for (size_t i = 0; i + 1 < parts.size(); ++i) parts[i] += ',';
    return parts;
  }

  void print_options() {
    std::vector<std::string> parts;
    for (const Json& option : payload_["options"]) {
      parts.push_back(inspector::cut_right(
          fmt::format("{}={}", text_in(option["name"]), text_in(option["value"])),
          kMaxOptionWidth));
    }
    line("options  ", parts, kDot);
  }

  void print_parts() {
    std::vector<std::string> parts;
    const Json& list = payload_["parts"];
    const size_t shown = options_.all ? list.size() : std::min(list.size(), kShownLines);
    for (size_t i = 0; i < shown; ++i) {
      const std::string content = text_in(list[i]["content"]);
      parts.push_back(fmt::format(
          "{} {}{}{}{}", text_in(list[i]["name"]), bytes_text(list[i]["bytes"].get<uint64_t>()),
          content.empty() ? "" : " (", content, content.empty() ? "" : ")"));
    }
    if (shown < list.size()) {
      parts.push_back(fmt::format("… and {} more (--all)", list.size() - shown));
    }
    line("parts  ", parts, kDot);
  }

  void print_operators() {
    const std::vector<std::string> lines = payload_lines(payload_);
    const bool all = options_.all || lines.size() <= kShownLines + 2;
    const size_t shown = all ? lines.size() : kShownLines;
    for (size_t i = 0; i < shown; ++i) {
      const std::string full = indent_ + lines[i];
      out_ += (options_.all ? full : inspector::cut_right(full, options_.width)) + '\n';
    }
    if (shown < lines.size()) {
      out_ += fmt::format("{}… and {} more (--all)\n", indent_, lines.size() - shown);
    }
  }

  const Json& payload_;
  const std::string& indent_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string foreign_payload_text(const Json& payload, const std::string& indent,
                                 const TextOptions& options) {
  return PayloadPrinter(payload, indent, options).print();
}

}  // namespace vitrine::tools
