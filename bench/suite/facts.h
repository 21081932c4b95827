// Where and with what a run of the suite took place.
#pragma once

#include <map>
#include <string>

namespace vitrine::bench {

// "machine", "cores", "system", "compiler", "flags", "commit", "date", "load" (average of the
// last minute over the cores, from before the run).
std::map<std::string, std::string> run_facts();

}  // namespace vitrine::bench
