// Defines Advice: a change to a model, or to the way in which the model runs, with the predicted
// gain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/advise/variant.h"
#include "tools/common/interval.h"

namespace vitrine::tools {

enum class Confidence : uint8_t {
  kMeasured,  // the changed program ran in turn with the baseline
  kModeled,   // computed from rows of the profile, or measured with a stand-in
  kRule,      // known to help in general; the gain is not known
};

// The quantity that advice saves. kPrompt is the time per token of a prompt.
enum class Gain : uint8_t { kTime, kPrompt, kMemory, kLoading, kFile };

// The difference between the changed program's outputs and the baseline's.
struct OutputChange {
  std::string text;      // "equal", "equal to 1e-6", "SQNR 43.1 dB"; empty if unknown
  bool is_safe = false;  // the outputs are equal or differ by rounding
};

struct Advice {
  std::string name = {};          // "optimize": for --apply, unique in a list
  std::string what = {};          // the change, as a sentence or noun phrase
  std::string why = {};           // the figures that lead to it
  std::vector<size_t> rows = {};  // numbers of rows of the profile, from 1
  std::string how = {};           // what to write in the model's source; empty if `change` says all
  // The options of `vitrine lower` and `vitrine run` that make the change; nullopt if options
  // cannot make the change.
  std::optional<Variant> change = {};
  // Data that the user must supply, such as calibration data; empty if none. Trials use the run's
  // inputs instead. Gains from such trials count as modeled, not as measured.
  std::string needs = {};

  Gain gain = Gain::kTime;
  // The saving, in the unit that `gain` implies: nanoseconds per run, bytes of memory, nanoseconds
  // of loading, or bytes of the file. Unset if unknown.
  std::optional<Interval> saved = {};
  double of = 0;  // the figure of the baseline that `saved` is a part of
  // The time with the change, divided by the time without it.
  std::optional<Interval> ratio = {};
  std::string method = {};  // how `saved` was found
  Confidence confidence = Confidence::kRule;
  OutputChange outputs = {};
  std::optional<double> memory_change = {};  // bytes of planned memory, workspace, packed weights
  std::optional<double> file_change = {};    // bytes
  // Numbers of the pieces of advice that cannot be applied together with this one.
  std::vector<size_t> excludes = {};

  // True if the change is certain to save something.
  bool is_gain() const { return saved.has_value() && saved->low > 0; }
};

// A change that is not advised: it saves nothing, or it was not tried.
struct Dismissed {
  std::string name;
  std::string why;
};

}  // namespace vitrine::tools
