// Advice is a change to a model, or to how the model runs, with the predicted gain.
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
  kRule,      // known to help in general; the gain is unknown
};

// kPrompt is the time per token of a prompt.
enum class Gain : uint8_t { kTime, kPrompt, kMemory, kLoading, kFile };

// Difference of the changed program's outputs from the baseline's outputs.
struct OutputChange {
  std::string text;      // "equal", "equal to 1e-6", "SQNR 43.1 dB"; empty if unknown
  bool is_safe = false;  // the outputs are equal or differ by rounding
};

struct Advice {
  std::string name = {};          // "optimize": for --apply, unique in a list
  std::string what = {};          // the change, as a sentence or noun phrase
  std::string why = {};           // the figures that lead to it
  std::vector<size_t> rows = {};  // rows of the profile, from 1
  std::string how = {};           // what to write in the model's source; empty if `change` suffices
  // Options of `vitrine lower` and `vitrine run` that make the change; nullopt if options cannot
  // make the change.
  std::optional<Variant> change = {};
  // Data that the user must supply, such as calibration data; empty if none. Trials use the run's
  // inputs instead of this data. Gains of such trials count as modeled.
  std::string needs = {};

  Gain gain = Gain::kTime;
  // Saving in nanoseconds per run, bytes of memory, nanoseconds of loading, or bytes of the file,
  // depending on `gain`. Unset if unknown.
  std::optional<Interval> saved = {};
  double of = 0;  // the baseline's figure that includes `saved`
  // Time with the change, divided by the time without the change.
  std::optional<Interval> ratio = {};
  std::string method = {};  // how `saved` was found
  Confidence confidence = Confidence::kRule;
  OutputChange outputs = {};
  std::optional<double> memory_change = {};  // bytes of planned memory, workspace, packed weights
  std::optional<double> file_change = {};    // bytes
  // Numbers of the advice that cannot be combined with this advice.
  std::vector<size_t> excludes = {};

  bool is_gain() const { return saved.has_value() && saved->low > 0; }
};

// A change that is not advised: it saves nothing, or it was not tried.
struct Dismissed {
  std::string name;
  std::string why;
};

}  // namespace vitrine::tools
