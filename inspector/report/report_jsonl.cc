#include "inspector/report/report_jsonl.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

using Json = nlohmann::ordered_json;

Json common_members(const Profile& profile, const std::map<std::string, std::string>& labels) {
  Json line = {{"v", kProfileRowsVersion},
               {"model", profile.run.model},
               {"method", profile.method},
               {"threads", profile.run.threads ? Json(*profile.run.threads) : Json()},
               {"runs", profile.runs},
               {"tool", profile.run.tool},
               {"input_values", profile.run.input_values}};
  if (!profile.queue.empty()) {
    line["queue"] = profile.queue;
    line["unit"] = profile.has_ticks ? "ticks" : "ns";
  }
  for (const auto& [key, value] : labels) {
    if (!line.contains(key)) line[key] = value;
  }
  return line;
}

void append(std::string& text, Json line, const TimeStatistics& time) {
  line["p50_ns"] = time.p50;
  line["p90_ns"] = time.p90;
  line["min_ns"] = time.min;
  line["avg_ns"] = time.avg;
  text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Appends a line for the run, a queue or the unattributed time, which have no op.
void append_without_op(std::string& text, const Json& common, const char* where,
                       std::string_view name, const TimeStatistics& time) {
  Json line = common;
  line["row"] = 0;
  line["where"] = where;
  line["op"] = name;
  append(text, std::move(line), time);
}

// Appends a line for each row. Row numbers start at `first`, so that rows of different queues have
// different numbers.
void append_rows(std::string& text, const Json& common, const Profile& profile, size_t first) {
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const ProfileRow& row = profile.rows[i];
    Json line = common;
    line["row"] = first + i;
    line["where"] = profile.queue.empty() ? where_name(row.where) : "device";
    line["op"] = op_type(row);
    line["source_ops"] = row.source_ops;
    line["module"] = module_of(row);
    line["delegate"] = row.delegate.empty() ? Json() : Json(row.delegate);
    line["kernel"] = row.kernel;
    append(text, std::move(line), row.time);
  }
}

}  // namespace

std::string report_jsonl(const Profile& profile, const std::map<std::string, std::string>& labels) {
  const Json common = common_members(profile, labels);
  std::string text;
  append_without_op(text, common, "run", "run", profile.wall);
  append_rows(text, common, profile, 1);
  append_without_op(text, common, "unattributed", "unattributed", profile.unattributed);
  size_t first = profile.rows.size() + 1;
  for (const Profile& queue : profile.queues) {
    const Json of_queue = common_members(queue, labels);
    append_without_op(text, of_queue, "queue", queue.queue, queue.wall);
    append_rows(text, of_queue, queue, first);
    first += queue.rows.size();
  }
  return text;
}

}  // namespace vitrine::inspector
