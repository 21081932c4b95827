#include "inspector/report/read_whole_profile.h"

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "inspector/report/read_profile.h"

namespace vitrine::inspector {
namespace {

constexpr double kMaxFigure = 1e18;

double non_negative(const JsonValue& json) {
  const double number = json.number();
  if (!(number >= 0 && number <= kMaxFigure)) json.fail("is not a number between 0 and 1e18");
  return number;
}

std::optional<uint64_t> count_of(const JsonValue& json, std::string_view key) {
  if (!json.holds(key)) return std::nullopt;
  return json.at(key).integer<uint64_t>();
}

MemoryInfo memory_of(const JsonValue& json) {
  const auto bytes = [&](std::string_view key) { return count_of(json, key).value_or(0); };
  return {.planned = bytes("planned_bytes"),
          .metadata = bytes("metadata_bytes"),
          .workspace = bytes("workspace_bytes"),
          .packed_weights = bytes("packed_weights_bytes"),
          .mapped_weights = bytes("mapped_weights_bytes"),
          .constants = bytes("constants_bytes")};
}

MachineLimits limits_of(const JsonValue& json) {
  return {.flops_per_s = non_negative(json.at("flops_per_s")),
          .bytes_per_s = non_negative(json.at("bytes_per_s")),
          .threads = json.at("threads").integer<uint32_t>(),
          .machine = json.at("machine").string()};
}

DelegateCall call_of(const JsonValue& json) {
  DelegateCall call;
  if (json.holds("delegate")) call.delegate = json.at("delegate").string();
  call.partition = json.at("partition").integer<int>();
  call.instruction = json.at("instruction").integer<int32_t>();
  call.operators = json.at("operators").integer<size_t>();
  call.derived_times = json.at("derived_times").boolean();
  json.at("source_ops").each_item([&](const JsonValue& op) {
    call.source_ops.push_back(op.string());
  });
  call.calls = non_negative(json.at("calls"));
  call.time.avg = non_negative(json.at("avg_ns"));
  call.time.p50 = non_negative(json.at("p50_ns"));
  call.time.min = non_negative(json.at("min_ns"));
  return call;
}

void read_row(const JsonValue& json, ProfileRow& row) {
  if (!(row.share >= 0 && row.share <= 1)) json.at("share").fail("is not between 0 and 1");
  if (!json.holds("cost")) return;
  const JsonValue cost = json.at("cost");
  row.cost = Cost{.flops = non_negative(cost.at("flops")), .bytes = non_negative(cost.at("bytes"))};
}

}  // namespace

Profile read_whole_profile(std::string_view json, const std::string& source,
                           DelegateProfiles delegates) {
  Profile profile = read_profile(json, source, delegates);
  const JsonDocument document(json, source);
  const JsonValue root = document.root();
  size_t row = 0;
  root.at("rows").each_item([&](const JsonValue& item) { read_row(item, profile.rows[row++]); });
  root.at("delegate_calls").each_item([&](const JsonValue& item) {
    profile.delegate_calls.push_back(call_of(item));
  });
  RunInfo& run = profile.run;
  run.load_ns = count_of(root, "load_ns");
  run.init_ns = count_of(root, "init_ns");
  if (root.holds("first_result_ns")) {
    const JsonValue parts = root.at("first_result_ns");
    run.open_ns = count_of(parts, "open");
    run.pack_ns = count_of(parts, "pack");
    run.plan_ns = count_of(parts, "plan");
  }
  run.peak_rss_bytes = count_of(root, "peak_rss_bytes");
  run.steady_rss_bytes = count_of(root, "steady_rss_bytes");
  if (root.holds("memory")) run.memory = memory_of(root.at("memory"));
  if (root.holds("machine")) run.limits = limits_of(root.at("machine"));
  return profile;
}

}  // namespace vitrine::inspector
