// Handles Ctrl-C in tools that run programs.
#pragma once

#include <atomic>

namespace vitrine::tools {

// Sessions load methods with this flag as MethodOptions::cancel_flag.
std::atomic<bool>& cancel_flag();

// Sets cancel_flag(). The next Ctrl-C ends the process at once. Safe in signal handlers.
void cancel_executions();

void cancel_on_interrupt();

// The first Ctrl-C sets this flag if stop_on_interrupt() or stop_then_remove_files_on_interrupt()
// was called. Measurements end after the current run.
std::atomic<bool>& stop_flag();

// The first Ctrl-C sets stop_flag(). The second Ctrl-C calls cancel_executions().
void stop_on_interrupt();

// Ctrl-C and SIGTERM remove the temporary files of tools::NewFile and end the process.
void remove_files_on_interrupt();

// The first Ctrl-C sets stop_flag(). The second Ctrl-C, or SIGTERM, removes the temporary files and
// ends the process.
void stop_then_remove_files_on_interrupt();

// Adds a path to the list of temporary files that signal handlers remove. Ignores the path if the
// list has eight paths.
void add_temporary_file(const char* path);
void forget_temporary_file(const char* path);

}  // namespace vitrine::tools
