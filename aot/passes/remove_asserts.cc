#include <algorithm>
#include <array>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

constexpr std::array<std::string_view, 6> kAsserts = {"aten._assert_tensor_metadata.default",
                                                      "aten._assert_scalar.default",
                                                      "aten._assert_async.msg",
                                                      "aten.sym_constrain_range.default",
                                                      "aten.sym_constrain_range_for_size.default",
                                                      "aten._assert_async.default"};

}  // namespace

void remove_asserts(ExportedProgram& program) {
  for_each_call(*program.graph, [](Node& node) {
    if (std::ranges::count(kAsserts, node.target().name()) != 0 && node.users().empty()) {
      node.graph().erase(&node);
    }
  });
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
