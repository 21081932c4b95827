#include "tools/pte_lower/lower_in_memory.h"

#include <span>
#include <string>
#include <utility>

#include "aot/pipeline/lower.h"
#include "tools/pte_lower/backends.h"

namespace vitrine::tools {

std::vector<std::byte> lower_in_memory(const std::filesystem::path& model,
                                       const std::string& method, const char* backend) {
  std::vector<std::string> backends;
  if (backend != nullptr) backends.emplace_back(backend);
  aot::LowerOptions options;
  options.partitioners = make_partitioners(backends);
  std::vector<std::byte> program;
  options.sink = [&](std::span<const std::byte> bytes) {
    program.insert(program.end(), bytes.begin(), bytes.end());
  };
  aot::lower(aot::import_methods({{method, model}}), options);
  return program;
}

}  // namespace vitrine::tools
