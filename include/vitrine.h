/* The C API of Vitrine: loads a program and calls its methods.
 *
 *   vitrine_module* module = NULL;
 *   vitrine_error* error = vitrine_module_load_file("model.pte", NULL, &module);
 *   if (error != NULL) { puts(vitrine_error_message(error)); ... }
 *
 * Errors: a function that can fail returns NULL on success, or an error that the caller frees. On
 * failure, its out parameters stay unchanged. Running out of memory is an error like any other
 * (0x21 MemoryAllocationFailed).
 *
 * Ownership: an object returned through an out parameter belongs to the caller, who frees it with
 * the matching `_free` function. Every `_free` function accepts NULL. A pointer that is the return
 * value belongs to the object passed in.
 *
 * Getters accept NULL in place of an object, and then return NULL or 0.
 *
 * Threads: a module and its arrays must be used by one thread at a time, except in
 * vitrine_module_cancel. Different modules are independent.
 */
#ifndef VITRINE_H
#define VITRINE_H

#include <stddef.h>
#include <stdint.h>

#include "vitrine/version.h"

#if defined(_WIN32)
#define VITRINE_API
#else
#define VITRINE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library as text, such as "0.1.0", and as the number
 * 10000 * major + 100 * minor + patch. */
VITRINE_API const char* vitrine_version(void);
VITRINE_API uint32_t vitrine_version_number(void);

typedef struct vitrine_error vitrine_error;
/* Codes have ExecuTorch's numbers: 0x12 InvalidArgument, 0x14 OperatorMissing, 0x23 InvalidProgram
 * (vitrine/error.h lists all codes). For NULL, the code is 0 and the message is empty. */
VITRINE_API uint32_t vitrine_error_code(const vitrine_error* error);
VITRINE_API const char* vitrine_error_message(const vitrine_error* error);
VITRINE_API void vitrine_error_free(vitrine_error* error);

/* Loads a shared library with operators and backends that this build lacks (vitrine/extension.h).
 * Call this before programs are loaded, in one thread. The library stays loaded until the process
 * ends. A library runs code in this process: load only libraries that you trust. */
VITRINE_API vitrine_error* vitrine_load_library(const char* path);

/* Element types, numbered as in program files. The type is not an enum, so that passing an unknown
 * number is an error and not undefined behavior. */
typedef int32_t vitrine_dtype;
enum {
  VITRINE_U8 = 0,
  VITRINE_I8 = 1,
  VITRINE_I16 = 2,
  VITRINE_I32 = 3,
  VITRINE_I64 = 4,
  VITRINE_F16 = 5,
  VITRINE_F32 = 6,
  VITRINE_F64 = 7,
  VITRINE_BOOL = 11,
  VITRINE_BF16 = 15,
  VITRINE_U16 = 27,
  VITRINE_U32 = 28,
  VITRINE_U64 = 29
};

/* A tensor with its memory. Elements are in row-major order. */
typedef struct vitrine_array vitrine_array;
/* Creates an array that owns its memory. All elements are zero. */
VITRINE_API vitrine_error* vitrine_array_new(vitrine_dtype dtype, const int32_t* sizes, size_t rank,
                                             vitrine_array** out);
/* Creates an array that uses the caller's memory, which must outlive the array and be aligned for
 * the dtype. `nbytes` must be the exact size of the elements. */
VITRINE_API vitrine_error* vitrine_array_borrow(vitrine_dtype dtype, const int32_t* sizes,
                                                size_t rank, void* data, size_t nbytes,
                                                vitrine_array** out);
VITRINE_API void vitrine_array_free(vitrine_array* array);
VITRINE_API vitrine_dtype vitrine_array_dtype(const vitrine_array* array);
VITRINE_API size_t vitrine_array_rank(const vitrine_array* array);
VITRINE_API const int32_t* vitrine_array_sizes(const vitrine_array* array);
VITRINE_API size_t vitrine_array_nbytes(const vitrine_array* array);
/* May be NULL if the array has no elements. */
VITRINE_API void* vitrine_array_data(const vitrine_array* array);

typedef int32_t vitrine_kind;
enum {
  VITRINE_NONE = 0,
  VITRINE_ARRAY = 1,
  VITRINE_STRING = 2,
  VITRINE_REAL = 3,
  VITRINE_INTEGER = 4,
  VITRINE_BOOLEAN = 5,
  VITRINE_OTHER = 6 /* lists, which only the C++ API can read */
};

/* An input or output of a method. Inputs remain the caller's property. Free outputs with
 * vitrine_value_clear. */
typedef struct vitrine_value {
  vitrine_kind kind;
  union {
    vitrine_array* array;
    char* string;
    double real;
    int64_t integer;
    int boolean;
  } as;
} vitrine_value;
/* Frees the array or string of an output and sets the kind to VITRINE_NONE. Accepts NULL. */
VITRINE_API void vitrine_value_clear(vitrine_value* value);

typedef struct vitrine_module vitrine_module;

/* An option that a backend reads when a method is loaded, such as {"XnnpackBackend",
 * "weight_cache_enabled", VITRINE_BOOLEAN, {.boolean = 0}}. docs/xnnpack.md lists the options of
 * XNNPACK. */
typedef struct vitrine_backend_option {
  const char* backend; /* the backend's id */
  const char* key;
  vitrine_kind kind; /* VITRINE_BOOLEAN, VITRINE_INTEGER or VITRINE_STRING */
  union {
    int boolean;
    int64_t integer;
    const char* string;
  } as;
} vitrine_backend_option;

/* Options for loading. Initialize with VITRINE_OPTIONS_INIT, because later versions add members.
 * Loading fails with InvalidArgument if `struct_size` is less than in the first version. */
typedef struct vitrine_options {
  size_t struct_size;
  size_t threads;                /* the calling thread included; 0: one per performance core */
  const char* const* data_files; /* paths of .ptd files; none may be NULL */
  size_t num_data_files;
  /* If not 0, calls are profiled for vitrine_module_profile_json: each instruction reads a clock.
   */
  int profile;
  /* If not 0, the optimized kernels are not used. This is a size_t, because an int would be in the
   * padding of older structs. */
  size_t portable_kernels_only;
  /* Loading fails with InvalidArgument for a backend that this build lacks. If the backend rejects
   * an option, the first call of each method fails. If a key is repeated, the last one applies. */
  const vitrine_backend_option* backend_options;
  size_t num_backend_options;
  /* Limits for each method, against hostile files (docs/trust.md, "Limits"): bytes of memory, steps
   * of loading (reading one list element is one step), and instructions per run. 0 selects the
   * default. */
  uint64_t max_memory_bytes;
  uint64_t max_load_steps;
  uint64_t max_instructions_per_run;
  uint64_t max_milliseconds_per_run; /* 0: no limit */
  /* If not 0, a method may have an output that nothing writes. Its bytes are unspecified. */
  size_t accept_unwritten_outputs;
} vitrine_options;
#define VITRINE_OPTIONS_INIT \
  { sizeof(vitrine_options), 0, NULL, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0 }

/* Maps the file, which must not be truncated while the module exists. `options` may be NULL. The
 * options and their strings are copied. */
VITRINE_API vitrine_error* vitrine_module_load_file(const char* path,
                                                    const vitrine_options* options,
                                                    vitrine_module** out);
/* `program` must outlive the module and be 16-byte aligned, as memory from malloc and mmap is.
 * Otherwise the error is InvalidArgument. */
VITRINE_API vitrine_error* vitrine_module_load_memory(const void* program, size_t nbytes,
                                                      const vitrine_options* options,
                                                      vitrine_module** out);
VITRINE_API void vitrine_module_free(vitrine_module* module);

VITRINE_API size_t vitrine_module_num_methods(const vitrine_module* module);
/* NULL if `index` is out of range. */
VITRINE_API const char* vitrine_module_method_name(const vitrine_module* module, size_t index);

typedef struct vitrine_info {
  vitrine_kind kind;
  vitrine_dtype dtype; /* dtype, rank, sizes and is_dynamic are set for arrays only */
  size_t rank;
  const int32_t* sizes; /* the upper bounds if the shape is dynamic */
  int is_dynamic;
  /* The dict key or keyword argument in the model, or a path that begins with such a name
   * ("state.keys[0]"). NULL if the program does not name this value. Names may repeat. */
  const char* name;
} vitrine_info;
VITRINE_API vitrine_error* vitrine_method_counts(const vitrine_module* module, const char* method,
                                                 size_t* num_inputs, size_t* num_outputs);
VITRINE_API vitrine_error* vitrine_method_input(const vitrine_module* module, const char* method,
                                                size_t index, vitrine_info* out);
VITRINE_API vitrine_error* vitrine_method_output(const vitrine_module* module, const char* method,
                                                 size_t index, vitrine_info* out);

/* Calls a method. The first call loads the method. `num_outputs` must equal the method's number of
 * outputs. The function overwrites `outputs` without freeing their old contents. Returns
 * InvalidArgument if an output is one of `inputs`. If the program updates an input, an array from
 * vitrine_array_new changes, but a borrowed array does not. The error for an input of the wrong
 * kind, dtype or shape is InvalidArgument, or NotSupported (0x10) if its sizes differ from a static
 * shape. */
VITRINE_API vitrine_error* vitrine_module_call(vitrine_module* module, const char* method,
                                               const vitrine_value* inputs, size_t num_inputs,
                                               vitrine_value* outputs, size_t num_outputs);

/* Ends the current call, if any, before its next instruction or the next operator of a delegate:
 * the call returns Canceled (0x40). Its outputs and the program's state are then unspecified. The
 * module can be called again. Any thread and signal handlers may call this function. */
VITRINE_API void vitrine_module_cancel(vitrine_module* module);

/* Returns the times of all calls since loading or the last reset as JSON
 * (docs/formats/call_profile.md). Free the text with vitrine_string_free. Returns InvalidState (2)
 * if `profile` was not set when the module was loaded. */
VITRINE_API vitrine_error* vitrine_module_profile_json(const vitrine_module* module, char** out);
VITRINE_API vitrine_error* vitrine_module_profile_reset(vitrine_module* module);
VITRINE_API void vitrine_string_free(char* string);

#ifdef __cplusplus
}
#endif

#endif /* VITRINE_H */
