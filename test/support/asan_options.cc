// Makes AddressSanitizer return a null pointer if memory runs out, like the system's allocator,
// instead of stopping the process. Executables that test out-of-memory errors link this file.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
