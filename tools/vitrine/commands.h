// The main functions of the tools. `vitrine` calls them, and so does the program of each tool.
#pragma once

namespace vitrine::tools {

// These functions return the exit code.
int executor_runner(int argc, char** argv);
int llm_runner(int argc, char** argv);
int pte_inspect(int argc, char** argv);
int pte_lower(int argc, char** argv);

}  // namespace vitrine::tools
