#pragma once

#include <map>
#include <string>

namespace vitrine::bench {

// Returns the facts "machine", "cores", "system", "compiler", "flags", "commit", "date" and "load"
// (average of the last minute).
std::map<std::string, std::string> run_facts();

}  // namespace vitrine::bench
