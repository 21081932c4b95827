#include "inspector/report/report_numerics_html.h"

#include "inspector/report/fill_page.h"
#include "inspector/report/html/page_text.h"
#include "inspector/report/numerics_json.h"
#include "inspector/report/numerics_texts.h"

namespace vitrine::inspector {

std::string report_numerics_html(const Numerics& numerics, const Profile& program,
                                 const Profile& reference, const Profile* timed,
                                 std::string_view graph) {
  nlohmann::ordered_json data = numerics_json(numerics, program, reference, timed);
  for (size_t i = 0; i < numerics.rows.size(); ++i) {
    const NumericsRow& row = numerics.rows[i];
    RowTexts texts = row_texts(program.rows[row.row]);
    texts.op = texts.short_op;
    data["rows"][i]["name"] = op_text(row, texts);
    data["rows"][i]["stored"] = stored_text(row);
  }
  data["without_figures"] = nlohmann::ordered_json::array();
  for (const auto& [reason, rows] : rows_without_figures(numerics)) {
    data["without_figures"].push_back({reason, rows});
  }
  const std::string json =
      without_tags(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  const std::string style =
      std::string(html::kStyle).append(html::kGraphTabStyle).append(html::kNumericsStyle);
  const std::string script = std::string(html::kElements)
                                 .append(html::kGraphTabScript)
                                 .append(html::kDepthChart)
                                 .append(html::kNumericsScript);
  return fill_page(html::kNumericsPage, {{"{{style}}", style},
                                         {"{{data}}", json},
                                         {"{{graph data}}", graph.empty() ? "null" : graph},
                                         {"{{script}}", script}});
}

}  // namespace vitrine::inspector
