// Main functions of the tools, for `vitrine` and for the tools' own executables.
#pragma once

namespace vitrine::tools {

// Each function runs a tool and returns the exit code.
int executor_runner(int argc, char** argv);
int llm_runner(int argc, char** argv);
int pte_inspect(int argc, char** argv);
int pte_lower(int argc, char** argv);

}  // namespace vitrine::tools
