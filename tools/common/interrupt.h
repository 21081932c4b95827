// Handles Ctrl-C in tools that run programs.
#pragma once

#include <atomic>

namespace vitrine::tools {

// All methods that sessions load use this flag as MethodOptions::cancel_flag. It is false until
// cancel_executions() is called.
std::atomic<bool>& cancel_flag();

// Sets cancel_flag(). The next Ctrl-C ends the process at once. Signal handlers may call this.
void cancel_executions();

// Makes Ctrl-C call cancel_executions().
void cancel_on_interrupt();

// The first Ctrl-C sets this flag if stop_on_interrupt() or stop_then_remove_files_on_interrupt()
// was called. Measurements then end after the current run.
std::atomic<bool>& stop_flag();

// Makes the first Ctrl-C set stop_flag(), and the second one call cancel_executions().
void stop_on_interrupt();

// Makes Ctrl-C and SIGTERM remove the temporary files of tools::NewFile before they end the
// process.
void remove_files_on_interrupt();

// Makes the first Ctrl-C set stop_flag(). The second Ctrl-C, or SIGTERM, removes the temporary
// files and ends the process.
void stop_then_remove_files_on_interrupt();

// Adds a path to the list of temporary files that the signal handlers above remove. Ignores the
// path if the list already has eight paths.
void add_temporary_file(const char* path);
// Removes a path from the list of temporary files.
void forget_temporary_file(const char* path);

}  // namespace vitrine::tools
