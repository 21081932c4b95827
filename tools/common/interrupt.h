// Handles Ctrl-C in tools that run programs.
#pragma once

#include <atomic>

namespace vitrine::tools {

// MethodOptions::cancel_flag for all methods that sessions load. It is false until Ctrl-C.
std::atomic<bool>& cancel_flag();

// Sets the flag. The next Ctrl-C ends the process at once. Signal handlers may call this.
void cancel_executions();

// Makes Ctrl-C call cancel_executions().
void cancel_on_interrupt();

// True after Ctrl-C: measurements end after the current run. Another Ctrl-C cancels that run.
std::atomic<bool>& stop_flag();

// Makes the first Ctrl-C set stop_flag(), and the second one call cancel_executions().
void stop_on_interrupt();

// Makes Ctrl-C and SIGTERM remove the temporary files of tools::NewFile before they end the
// process.
void remove_files_on_interrupt();

// Makes the first Ctrl-C set stop_flag(), and the second one do the same as above. SIGTERM does so
// at once.
void stop_then_remove_files_on_interrupt();

// Adds or removes a file that an interrupt deletes. At most eight files are kept.
void add_temporary_file(const char* path);
void forget_temporary_file(const char* path);

}  // namespace vitrine::tools
