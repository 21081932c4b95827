// Defines main() for the executables executor_runner, llm_runner, pte_inspect and pte_lower.
#include "tools/vitrine/commands.h"

int main(int argc, char** argv) { return vitrine::tools::VITRINE_TOOL(argc, argv); }
