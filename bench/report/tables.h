// The page's tables, before they are Markdown or HTML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/report/results.h"

namespace vitrine::bench {

struct Column {
  std::string title;
  bool is_figure = true;  // aligned right
};

struct PageTable {
  std::string title;
  std::string what;  // how to read it
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// Those that have rows, in the page's order: models, start, operators, runtime, counts,
// limits, gaps.
std::vector<PageTable> page_tables(const Results& results);

// What a document shows of the results: a line for each model and number of threads, and
// operators on one thread.
PageTable model_overview(const Results& results);
PageTable operators_table(const Results& results, std::optional<size_t> threads = {});
PageTable runtime_table(const Results& results);
PageTable counts_table(const Results& results);  // a line for each model and variant

// The figures at the top of the page.
struct Headline {
  std::string what;
  std::string figure;
  std::string more;
};
std::vector<Headline> headlines(const Results& results);

// How the figures came about, a sentence each.
std::vector<std::string> method_notes(const Results& results);

// The fact of that name, or "unknown".
std::string fact(const Results& results, const std::string& name);
// "2 cores", "8 cores, pinned to CPUs 0, 1".
std::string cores_text(const Results& results);

}  // namespace vitrine::bench
