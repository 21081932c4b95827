#include "devtools/etrecord/json_reader.h"

namespace vitrine::etrecord {
namespace {

constexpr std::string_view kPythonNumbers[] = {"NaN", "-Infinity", "Infinity"};

// Same length, so that positions in parse errors stay true.
void replace_python_numbers(std::string& text) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == 'N' || c == 'I' || c == '-') {
      for (const std::string_view number : kPythonNumbers) {
        if (text.compare(i, number.size(), number) != 0) continue;
        text.replace(i, number.size(), number.size(), ' ');
        text[i] = '0';
        break;
      }
    }
  }
}

}  // namespace

nlohmann::json parse_json(std::string text, const std::string& place) {
  replace_python_numbers(text);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw EtRecordError(fmt::format("{}: is not JSON: {}", place, error.what()));
  }
}

}  // namespace vitrine::etrecord
