// Collects facts about the machine on which the suite runs, and about the suite's build.
#pragma once

#include <map>
#include <string>

namespace vitrine::bench {

// Returns the facts "machine", "cores", "system", "compiler", "flags", "commit", "date" and "load".
// The load is the load average of the last minute before the run.
std::map<std::string, std::string> run_facts();

}  // namespace vitrine::bench
