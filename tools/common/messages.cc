#include "tools/common/messages.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "tools/common/files.h"

namespace vitrine::tools {
namespace {

std::string& name_in_messages() {
  static std::string name;
  return name;
}

}  // namespace

const std::string& program_name() { return name_in_messages(); }
void set_program_name(std::string name) { name_in_messages() = std::move(name); }

void print_note(std::string_view text) {
  const std::string& name = program_name();
  print_text(stderr, fmt::format("{}{}{}\n", name, name.empty() ? "" : ": ", text));
}
void print_warning(std::string_view text) { print_note(fmt::format("warning: {}", text)); }
void print_error(std::string_view text) { print_note(fmt::format("error: {}", text)); }

}  // namespace vitrine::tools
