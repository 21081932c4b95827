// For executables that test what happens when there is no memory: AddressSanitizer then gives a
// null pointer, as the system does, instead of stopping.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
