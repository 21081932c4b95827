// Profiles a program from C++: attaches a tracer, runs the program and prints rows.
//
//   profile_a_model model.pte [model.etrecord]
//
// run_traced() is the device part: it runs the program with the tracer and writes an ETDump.
// print_profile() is the host part: it reads the ETDump, which may come from another machine.
#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "backends/profiles/xnnpack_profile.h"
#include "formats/etdump/etdump_reader.h"
#include "formats/etdump/etdump_writer.h"
#include "formats/etrecord/etrecord.h"
#include "inspector/join/make_profile.h"
#include "inspector/report/grouping.h"
#include "inspector/report/row_texts.h"
#include "runtime/extension/trace_buffer.h"
#include "tools/common/tool_error.h"
#include "vitrine/module.h"

using namespace vitrine;  // NOLINT(google-build-using-namespace)
using tools::check;       // turns an Error into an exception; device code would handle the Error

namespace {

constexpr int kRuns = 10;

std::vector<std::byte> run_traced(const char* model) {
  // Delegates log their operator maps during load, so the tracer is passed to load().
  TraceBuffer trace;
  Module module = check(Module::load(model, {.tracer = &trace}));
  const MethodMeta meta = check(module.method_meta("forward"));
  std::vector<Value> inputs;  // zeros
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const TensorInfo info = meta.input_tensor(i);
    inputs.emplace_back(check(Array::zeros(info.dtype, info.sizes)));
  }
  for (int run = 0; run < kRuns; ++run) check(module.forward(inputs));

  const auto dump = check(write_etdump(trace));
  const auto bytes = std::as_bytes(std::span(dump.data(), dump.size()));
  return {bytes.begin(), bytes.end()};
}

void print_profile(std::span<const std::byte> dump, const char* record_file) {
  std::optional<etrecord::EtRecord> record;
  if (record_file != nullptr) record = etrecord::read_etrecord(record_file);
  // The backends whose profile events make_profile() can interpret.
  const std::array delegates = {&xnnpack_profile()};
  inspector::ProfileOptions options;
  options.delegates = delegates;
  const inspector::Profile profile =
      inspector::make_profile(etdump::parse_etdump(dump), record ? &*record : nullptr, options);

  std::printf("%zu runs, median %.1f us\n\nslowest operators\n", profile.runs,
              profile.wall.p50 / 1000);
  const inspector::View slowest{.by = inspector::GroupBy::kNone, .top = 5, .filter = {}};
  for (const inspector::Group& group : inspector::group_rows(profile, slowest).groups) {
    const inspector::ProfileRow& row = profile.rows[group.rows[0]];
    const inspector::RowTexts texts = inspector::row_texts(row);
    std::printf("%8.1f us  %5.1f %%  %s  %s\n", row.time.p50 / 1000, row.share * 100,
                texts.op.c_str(), texts.module.c_str());
  }
  std::printf("\nby op\n");
  const inspector::View by_op{.by = inspector::GroupBy::kOp, .top = 0, .filter = {}};
  for (const inspector::Group& group : inspector::group_rows(profile, by_op).groups) {
    std::printf("%8.1f us  %5.1f %%  %s x%zu\n", group.time.p50 / 1000, group.share * 100,
                group.name.c_str(), group.num_rows);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: profile_a_model model.pte [model.etrecord]\n");
    return 2;
  }
  try {
    print_profile(run_traced(argv[1]), argc > 2 ? argv[2] : nullptr);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
