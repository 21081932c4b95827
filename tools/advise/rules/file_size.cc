// Suggests removing the record of names and source lines. Only profiles need the record.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"
#include "tools/common/shell_word.h"

namespace vitrine::tools {

std::vector<Advice> advise_file_size(const Context& context) {
  constexpr double kMinShare = 0.05;
  const auto record = static_cast<double>(context.record_bytes);
  const auto program = static_cast<double>(context.program_bytes);
  if (record < kMinShare * program) return {};
  Advice advice{.name = "no_debug_maps",
                .what = "ship the program without its record of source names",
                .why = fmt::format("the record takes {} of {}; only profiles read it",
                                   bytes_text(record), bytes_text(program)),
                .gain = Gain::kFile,
                .saved = Interval{record, record},
                .of = program,
                .method = "size of the record",
                .confidence = Confidence::kMeasured,
                .outputs = {"equal", true},
                .file_change = -record};
  if (context.is_file) {
    advice.how = fmt::format("vitrine strip {} -o small.pte --etrecord model.etrecord",
                             shell_word(context.model.string()));
  } else {
    advice.change = Variant{.lowering = {{"--no-debug-maps", ""}}};
  }
  return {advice};
}

}  // namespace vitrine::tools
