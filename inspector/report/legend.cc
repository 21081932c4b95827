#include "inspector/report/legend.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text/text_layout.h"

namespace vitrine::inspector {
namespace {

// The texts are also used as HTML, so they must not contain '<', '>' or '&'.
struct Term {
  std::string_view name;
  std::string_view meaning;
};
constexpr Term kTerms[] = {
    {"inputs", "values of the inputs: files, a test set, or random numbers with their seed"},
    {"model fnv1a64:...", "digest of the program's file; equal files have equal digests"},
    {"partition", "part of the model that a delegate executes"},
    {"source op", "op of the exported model"},
    {"not delegated", "kernels that ran outside of delegates"},
    {"load", "time to read and check the program"},
    {"init", "time to load the method, which creates the delegates"},
    {"start",
     "parts of the time to the first result: open the file, verify the program, prepare the "
     "method, pack the weights of delegates, plan the memory of delegates, first run"},
    {"warm-up", "run before the measured runs; only `start` and `first run` include its time"},
    {"tracing",
     "how much longer traced runs took than untraced ones; `clock` is the part of this time for "
     "reading the processor's counter; both are shares of an untraced run"},
    {"below noise", "traced runs were not slower than untraced ones"},
    {"memory peak, steady", "resident memory of the process: its maximum, and after the last run"},
    {"activations", "planned memory of the method"},
    {"workspace", "memory of the delegates for values between their operators"},
    {"packed weights", "weights in the layout of a delegate's kernels"},
    {"other constants", "copied constants other than packed weights"},
    {"first run, steady", "time of the first run, and the median of the runs after it"},
    {"names", "file from which the source ops of the rows were read"},
    {"#", "number of the row, in run order"},
    {"ran in: xnn 0", "delegate call 0 of the backend whose name begins with xnn"},
    {"ran in: portable, optimized", "library of the kernel"},
    {"convolution +2", "a convolution and two ops that are folded into it"},
    {"add (of 25)", "25 ops share a debug handle; the row runs one or more of them"},
    {"~copy",
     "op that was inferred, because the record does not name it; may be the name of a kernel"},
    {"layout change for #2", "operator that lowering inserted because row 2 needs it"},
    {"module", "path of the module in the model"},
    {"kernel", "function that ran; narrow tables show a short name, files the full one"},
    {"GEMM f32, DWConv qc8",
     "short kernel names: algorithm and dtypes; IGEMM: indirect GEMM, DWConv: depthwise "
     "convolution"},
    {"…", "omitted part of a name; layer numbers are kept"},
    {"calls", "calls per run"},
    {"p10, p50, p90, ...", "percentiles over the runs; p50 is the median"},
    {"avg", "average over the runs; replaces p50 if runs executed different instructions"},
    {"%", "share of the sum of all medians, including unattributed time"},
    {"cum %", "sum of the shares up to this row; in a tree, each part of the time counts once"},
    {"MFLOP, GFLOP/s, GB/s",
     "millions of operations of the row; operations and bytes per second at its median time"},
    {"peak %",
     "shortest time that this machine's limits allow, divided by the time of the row; "
     "above 100 if the data come from caches"},
    {"unattributed", "time outside of all rows: entry and exit of delegates, dispatch"},
    {"wall", "time of a run"},
    {"A, B", "the two runs of a comparison; A is the reference"},
    {"B/A", "median of the ratios of B's times to A's times; if it is below 1, B is faster"},
    {"interval",
     "95 % confidence interval of B/A; a change counts if the entire interval is over 2 % away "
     "from 1"},
    {"change", "median of B minus median of A"},
    {"share %", "change of the row, divided by the change of the wall time"},
    {"max diff, mean diff", "largest and mean absolute difference of the elements"},
    {"SQNR", "signal to noise, 10 log10(sum a^2 / sum (a - b)^2), in dB; 40 dB is 1 % error"},
    {"cosine", "cosine of the angle between the values as vectors"},
};

}  // namespace

std::string legend_text(size_t width) {
  size_t longest = 0;
  for (const Term& term : kTerms) longest = std::max(longest, display_width(term.name));
  std::string text;
  for (const Term& term : kTerms) {
    text += wrap_words(align_left(term.name, longest + 2), term.meaning, width);
  }
  return text;
}

std::string legend_html() {
  std::string html;
  for (const Term& term : kTerms) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", term.name, term.meaning);
  }
  return html;
}

}  // namespace vitrine::inspector
