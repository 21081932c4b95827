#include "aot/passes/pipelines.h"

#include <array>

#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

constexpr std::array kToEdge = {
    Pass{"remember_sources", remember_sources},
    Pass{"functionalise", functionalise},
    Pass{"decompose", decompose},
    Pass{"remove_dead_code", remove_dead_code},
    Pass{"remove_unused_parameters", remove_unused_parameters},
    Pass{"remove_asserts", remove_asserts},
    Pass{"views_to_copies", views_to_copies},
    Pass{"scalars_to_tensors", scalars_to_tensors},
    Pass{"remove_no_ops", remove_no_ops},
    Pass{"convert_mixed_dtypes", convert_mixed_dtypes},
    Pass{"memory_formats_to_dim_orders", memory_formats_to_dim_orders},
    Pass{"remove_dead_code", remove_dead_code},
    Pass{"to_edge_dialect", to_edge_dialect},
    Pass{"generate_debug_handles", generate_debug_handles},
};

constexpr std::array kToExecutable = {
    Pass{"write_back_buffers", write_back_buffers},
    Pass{"elide_views", elide_views},
    Pass{"remove_dead_code", remove_dead_code},
};

}  // namespace

void to_edge(ExportedProgram& program) { run_passes(program, kToEdge); }
void to_executable(ExportedProgram& program) { run_passes(program, kToExecutable); }

}  // namespace vitrine::aot
