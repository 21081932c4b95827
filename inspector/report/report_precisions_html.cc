#include "inspector/report/report_precisions_html.h"

#include "inspector/report/fill_page.h"
#include "inspector/report/html/page_text.h"

namespace vitrine::inspector {

std::string report_precisions_html(std::string_view json) {
  const std::string style = std::string(html::kStyle).append(html::kPrecisionsStyle);
  const std::string script = std::string(html::kElements).append(html::kPrecisionsScript);
  return fill_page(
      html::kPrecisionsPage,
      {{"{{style}}", style}, {"{{data}}", without_tags(json)}, {"{{script}}", script}});
}

}  // namespace vitrine::inspector
