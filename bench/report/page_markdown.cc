#include <fmt/format.h>

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

std::string markdown(const PageTable& table) {
  std::string text = fmt::format("## {}\n\n", table.title);
  if (!table.what.empty()) text += table.what + "\n\n";
  std::vector<std::string> titles;
  std::string rule = "|";
  for (const Column& column : table.columns) {
    titles.push_back(column.title);
    rule += column.is_figure ? "---:|" : "---|";
  }
  text += line_of(titles) + rule + "\n";
  for (const std::vector<std::string>& row : table.rows) text += line_of(row);
  return text + "\n";
}

}  // namespace

std::string page_markdown(const Results& results) {
  std::string text = fmt::format(
      "# Benchmarks\n\n{}, {} cores, {}. {}, `{}`. Commit {}, {}.\n\n", fact(results, "machine"),
      fact(results, "cores"), fact(results, "system"), fact(results, "compiler"),
      fact(results, "flags"), fact(results, "commit"), fact(results, "date"));
  for (const Headline& each : headlines(results)) {
    text += fmt::format("- {}: **{}** ({})\n", each.what, each.figure, each.more);
  }
  text += "\n";
  for (const PageTable& table : page_tables(results)) text += markdown(table);
  text += "## Method\n\n";
  for (const std::string& note : method_notes(results)) text += fmt::format("- {}\n", note);
  return text;
}

}  // namespace vitrine::bench
