// This file is empty. CMake requires a source file for the target vitrine_host_headers.
