// Handles Ctrl-C in tools that run programs.
#pragma once

#include <atomic>

namespace vitrine::tools {

// The MethodOptions::cancel_flag of all methods that sessions load. It is false until
// cancel_executions().
std::atomic<bool>& cancel_flag();

// Sets cancel_flag(). The next Ctrl-C ends the process at once. Signal handlers may call this.
void cancel_executions();

// Makes Ctrl-C call cancel_executions().
void cancel_on_interrupt();

// True after the first Ctrl-C, so that measurements end after the current run. A second Ctrl-C
// cancels that run.
std::atomic<bool>& stop_flag();

// Makes the first Ctrl-C set stop_flag(), and the second one call cancel_executions().
void stop_on_interrupt();

// Makes Ctrl-C and SIGTERM remove the temporary files of tools::NewFile before they end the
// process.
void remove_files_on_interrupt();

// Makes the first Ctrl-C set stop_flag(). The second Ctrl-C, or SIGTERM, removes the temporary
// files and ends the process.
void stop_then_remove_files_on_interrupt();

// These functions add a path to the list of files that an interrupt deletes, or remove a path from
// it. The list holds at most eight files.
void add_temporary_file(const char* path);
void forget_temporary_file(const char* path);

}  // namespace vitrine::tools
