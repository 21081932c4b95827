#include "inspector/report/difference_texts.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text/text_layout.h"

namespace vitrine::inspector {

using Json = nlohmann::ordered_json;

std::vector<std::string> output_facts(const OutputDifference& output) {
  std::vector<std::string> parts = {fmt::format("output {}", output.index),
                                    printable(output.a.empty() ? output.b : output.a)};
  const TensorDifference& figures = output.figures;
  if (!output.why_not.empty()) {
    parts.push_back("not compared: " + printable(output.why_not));
  } else if (figures.mismatches == 0) {
    parts.emplace_back("the same in all elements");
  } else {
    parts.push_back(fmt::format("max diff {:.3g}", figures.max_abs));
    parts.push_back(fmt::format("mean diff {:.3g}", figures.mean_abs));
    parts.push_back(fmt::format("SQNR {:.1f} dB", figures.sqnr_db));
    parts.push_back(fmt::format("cosine {:.6f}", figures.cosine));
    parts.push_back(fmt::format("{} of {} elements differ", figures.mismatches, figures.elements));
  }
  return parts;
}

std::string output_lines(const std::vector<OutputDifference>& outputs, size_t width) {
  std::string lines;
  for (const OutputDifference& output : outputs) {
    lines += wrap("", output_facts(output), kDot, width);
  }
  return lines;
}

Json output_json(const OutputDifference& output) {
  Json json = {{"index", output.index}, {"a", output.a}, {"b", output.b}};
  if (!output.why_not.empty()) {
    json["not_compared"] = output.why_not;
    return json;
  }
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  json["elements"] = output.figures.elements;
  json["different"] = output.figures.mismatches;
  json["max_abs"] = number(output.figures.max_abs);
  json["mean_abs"] = number(output.figures.mean_abs);
  json["sqnr_db"] = number(output.figures.sqnr_db);
  json["cosine"] = number(output.figures.cosine);
  return json;
}

nlohmann::ordered_json outputs_json(const std::vector<OutputDifference>& outputs) {
  auto list = nlohmann::ordered_json::array();
  for (const OutputDifference& output : outputs) list.push_back(output_json(output));
  return list;
}

}  // namespace vitrine::inspector
