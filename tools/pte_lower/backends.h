// Lists the backends for lowering: backends of this build, and backends that main() adds.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aot/lowering/partitioner.h"

namespace vitrine::tools {

// Texts of --backend-option. A backend ignores options that are not in its BackendRow::options.
using BackendOptions = std::span<const std::string>;

struct BackendRow {
  std::string_view name;  // name on the command line
  std::string_view help;  // text for --help
  std::shared_ptr<const aot::Partitioner> (*make_partitioner)(BackendOptions options);
  std::vector<std::string_view> options = {};
};

// Not thread-safe.
void add_lowering_backend(const BackendRow& row);

// The result is valid until a backend is added.
std::span<const BackendRow> lowering_backends();
// Throws a ToolError that lists the known backends if the name is unknown.
const BackendRow& lowering_backend(std::string_view name);
// Makes one partitioner for each backend, in order. Throws a ToolError for an unknown backend, and
// for an option that none of the backends has.
std::vector<std::shared_ptr<const aot::Partitioner>> make_partitioners(
    std::span<const std::string> backends, BackendOptions options = {});

}  // namespace vitrine::tools
