// The parts of the reports' HTML pages, which the build makes from the files of this folder.
#pragma once

#include <string_view>

namespace vitrine::inspector::html {

// The page of a profile has the placeholders {{style}}, {{head}}, {{data}}, {{head data}} and
// {{script}}.
extern const std::string_view kPage;
extern const std::string_view kStyle;
extern const std::string_view kElements;  // helpers, which must precede the other scripts
extern const std::string_view kScript;    // must follow kGraphTabScript
extern const std::string_view kStart;     // must be the end of the script

// The tab with the graph, for pages that list rows. Such a page must have HTML elements with the
// ids page-tabs, graph-section, graph-why and graph-data. kGraphTabScript must come after
// kElements.
extern const std::string_view kGraphTabStyle;
extern const std::string_view kGraphTabScript;

extern const std::string_view kComparisonScript;  // must follow kGraphTabScript

// The page of a graph has the placeholders {{style}}, {{data}}, {{layout}}, {{elements}} and
// {{script}}.
extern const std::string_view kGraphPage;
extern const std::string_view kGraphStyle;   // must follow kStyle
extern const std::string_view kGraphLayout;  // the library dagre; empty if the build lacks dagre
extern const std::string_view kGraphScript;

// The page of errors has the placeholders {{style}}, {{data}}, {{graph data}} and {{script}}.
extern const std::string_view kNumericsPage;
extern const std::string_view kNumericsStyle;   // must follow kStyle
extern const std::string_view kDepthChart;      // must follow kElements
extern const std::string_view kNumericsScript;  // must follow kGraphTabScript and kDepthChart

// The page of two programs' errors has the placeholders {{style}}, {{data}} and {{script}}. It also
// uses kNumericsStyle.
extern const std::string_view kNumericsPairPage;
extern const std::string_view kNumericsPairScript;  // must follow kDepthChart

// The page of precisions has the placeholders {{style}}, {{data}} and {{script}}.
extern const std::string_view kPrecisionsPage;
extern const std::string_view kPrecisionsStyle;   // must follow kStyle
extern const std::string_view kPrecisionsScript;  // must follow kElements

// The page of two graphs has the placeholders {{style}}, {{data}}, {{elements}} and {{script}}.
extern const std::string_view kGraphPairPage;
extern const std::string_view kGraphPairStyle;  // must follow kStyle
extern const std::string_view kGraphPairScript;

}  // namespace vitrine::inspector::html
