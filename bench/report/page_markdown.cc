#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/host_error.h"
#include "bench/report/page.h"
#include "bench/report/tables.h"

namespace vitrine::bench {
namespace {

std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& text : cells) line += fmt::format(" {} |", cell(text));
  return line + "\n";
}

std::string rows_of(const PageTable& table) {
  std::string text;
  std::vector<std::string> titles;
  std::string rule = "|";
  for (const Column& column : table.columns) {
    titles.push_back(column.title);
    rule += column.is_figure ? "---:|" : "---|";
  }
  text += line_of(titles) + rule + "\n";
  for (const std::vector<std::string>& row : table.rows) text += line_of(row);
  return text;
}

std::string markdown(const PageTable& table) {
  std::string text = fmt::format("## {}\n\n", table.title);
  if (!table.what.empty()) text += table.what + "\n\n";
  return text + rows_of(table) + "\n";
}

std::string run_text(const Results& results) {
  std::string text =
      fmt::format("{}, {}, {}. {}, `{}`. Commit {}, {}.\n\n", fact(results, "machine"),
                  cores_text(results), fact(results, "system"), fact(results, "compiler"),
                  fact(results, "flags"), fact(results, "commit"), fact(results, "date"));
  for (const Headline& each : headlines(results)) {
    text += fmt::format("- {}: **{}** ({})\n", each.what, each.figure, each.more);
  }
  return text;
}

struct Part {
  const char* name;
  std::string (*text)(const Results&);
};
constexpr std::array<Part, 5> kParts = {
    {{"run", run_text},
     {"models", [](const Results& results) { return rows_of(model_overview(results)); }},
     {"operators", [](const Results& results) { return rows_of(operators_table(results, 1)); }},
     {"runtime", [](const Results& results) { return rows_of(runtime_table(results)); }},
     {"counts", [](const Results& results) { return rows_of(counts_table(results)); }}}};

}  // namespace

std::string with_results(const std::string& document, const Results& results) {
  static constexpr std::string_view kBegin = "<!-- bench ";
  static constexpr std::string_view kClose = " -->\n";
  static constexpr std::string_view kEnd = "<!-- end -->";
  std::string text;
  size_t done = 0;
  for (size_t at = document.find(kBegin); at != std::string::npos;
       at = document.find(kBegin, done)) {
    const size_t close = document.find(kClose, at);
    const size_t end = document.find(kEnd, at);
    if (close == std::string::npos || end == std::string::npos || close > end) {
      throw HostError(fmt::format("a mark \"{}...\" has no \"{}\"", kBegin, kEnd));
    }
    const std::string name = document.substr(at + kBegin.size(), close - at - kBegin.size());
    const auto part = std::ranges::find(kParts, name, &Part::name);
    if (part == kParts.end()) throw HostError(fmt::format("no part \"{}\" to fill in", name));
    text += document.substr(done, close + kClose.size() - done) + "\n" + part->text(results) + "\n";
    done = end;
  }
  if (done == 0) throw HostError(fmt::format("no mark \"{}NAME{}\"", kBegin, " -->"));
  return text + document.substr(done);
}

std::string page_markdown(const Results& results) {
  std::string text = "# Benchmarks\n\n" + run_text(results) + "\n";
  for (const PageTable& table : page_tables(results)) text += markdown(table);
  text += "## Method\n\n";
  for (const std::string& note : method_notes(results)) text += fmt::format("- {}\n", note);
  return text;
}

}  // namespace vitrine::bench
