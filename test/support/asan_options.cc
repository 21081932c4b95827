// For executables that test out-of-memory errors: AddressSanitizer then returns a null pointer, as
// the system does, instead of stopping.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
