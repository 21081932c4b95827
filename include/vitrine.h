/* Vitrine from C: load a program, call its methods.
 *
 *   vitrine_module* module = NULL;
 *   vitrine_error* error = vitrine_module_load_file("model.pte", NULL, &module);
 *   if (error != NULL) { puts(vitrine_error_message(error)); ... }
 *
 * Functions that can fail return NULL on success, else an error that the caller frees. What a
 * function returns by an out parameter belongs to the caller, who frees it with the matching
 * `_free` (NULL is allowed); on failure out parameters stay unchanged. Pointers that are returned
 * directly belong to the object that returned them; for NULL instead of an object they are NULL,
 * and numbers 0. Running out of memory is an error as well (0x21 MemoryAllocationFailed). One
 * thread at a time uses a module and its arrays; several modules are independent.
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

/* "0.1.0", and 10000 * major + 100 * minor + patch. */
VITRINE_API const char* vitrine_version(void);
VITRINE_API uint32_t vitrine_version_number(void);

typedef struct vitrine_error vitrine_error;
/* The code is ExecuTorch's where it has one: 0x12 InvalidArgument, 0x14 OperatorMissing, 0x23
 * InvalidProgram. Of NULL, which means success: 0, and an empty message. */
VITRINE_API uint32_t vitrine_error_code(const vitrine_error* error);
VITRINE_API const char* vitrine_error_message(const vitrine_error* error);
VITRINE_API void vitrine_error_free(vitrine_error* error);

/* Element types, numbered as in program files. An integer of fixed size, which makes unknown ones
 * an error instead of undefined. */
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

/* Elements in row-major order, with their memory. */
typedef struct vitrine_array vitrine_array;
/* Owns its memory, which is zero. */
VITRINE_API vitrine_error* vitrine_array_new(vitrine_dtype dtype, const int32_t* sizes, size_t rank,
                                             vitrine_array** out);
/* Uses the caller's memory, which outlives the array: exactly its bytes, aligned for the dtype. */
VITRINE_API vitrine_error* vitrine_array_borrow(vitrine_dtype dtype, const int32_t* sizes,
                                                size_t rank, void* data, size_t nbytes,
                                                vitrine_array** out);
VITRINE_API void vitrine_array_free(vitrine_array* array);
VITRINE_API vitrine_dtype vitrine_array_dtype(const vitrine_array* array);
VITRINE_API size_t vitrine_array_rank(const vitrine_array* array);
VITRINE_API const int32_t* vitrine_array_sizes(const vitrine_array* array);
VITRINE_API size_t vitrine_array_nbytes(const vitrine_array* array);
/* NULL may be returned for an array without elements. */
VITRINE_API void* vitrine_array_data(const vitrine_array* array);

typedef int32_t vitrine_kind;
enum {
  VITRINE_NONE = 0,
  VITRINE_ARRAY = 1,
  VITRINE_STRING = 2,
  VITRINE_REAL = 3,
  VITRINE_INTEGER = 4,
  VITRINE_BOOLEAN = 5,
  VITRINE_OTHER = 6 /* lists, which only C++ gives */
};

/* An input or output. Inputs stay the caller's. Outputs are freed with vitrine_value_clear. */
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
/* Frees what an output holds, and makes it VITRINE_NONE. NULL is allowed. */
VITRINE_API void vitrine_value_clear(vitrine_value* value);

typedef struct vitrine_module vitrine_module;

/* A setting for loading, e.g. {"XnnpackBackend", "weight_cache_enabled", VITRINE_BOOLEAN,
 * {.boolean = 0}}. docs/xnnpack.md lists the keys and values of XNNPACK. */
typedef struct vitrine_backend_option {
  const char* backend; /* its id */
  const char* key;
  vitrine_kind kind; /* VITRINE_BOOLEAN, VITRINE_INTEGER or VITRINE_STRING */
  union {
    int boolean;
    int64_t integer;
    const char* string;
  } as;
} vitrine_backend_option;

/* Begin with VITRINE_OPTIONS_INIT: later versions add members. InvalidArgument if `struct_size` is
 * less than that of the first version. */
typedef struct vitrine_options {
  size_t struct_size;
  size_t threads;                /* the caller's included; 0: as many as performing cores */
  const char* const* data_files; /* .ptd: paths, none of them NULL */
  size_t num_data_files;
  int profile; /* not 0: for vitrine_module_profile_json; a clock is read for each instruction */
  /* Not 0: without the optimised kernels. A size_t, as an int would lie in what was padding. */
  size_t portable_kernels_only;
  /* InvalidArgument for a backend that this build lacks. What a backend refuses is an error of each
   * method's first call. If a key is repeated, the last one applies. */
  const vitrine_backend_option* backend_options;
  size_t num_backend_options;
  /* Bounds on what a hostile file can ask for, of each method by itself; 0: the default
   * (docs/trust.md, "Limits"). Bytes for loading and running, items that loading looks at, and
   * instructions. */
  uint64_t max_memory_bytes;
  uint64_t max_load_steps;
  uint64_t max_instructions_per_run;
} vitrine_options;
#define VITRINE_OPTIONS_INIT \
  { sizeof(vitrine_options), 0, NULL, 0, 0, 0, NULL, 0, 0, 0, 0 }

/* The file is mapped: it must not be truncated while the module lives. `options` may be NULL; what
 * they point to is copied. */
VITRINE_API vitrine_error* vitrine_module_load_file(const char* path,
                                                    const vitrine_options* options,
                                                    vitrine_module** out);
/* `program` outlives the module and is 16-byte aligned, as what malloc and mmap give is;
 * InvalidArgument if not. */
VITRINE_API vitrine_error* vitrine_module_load_memory(const void* program, size_t nbytes,
                                                      const vitrine_options* options,
                                                      vitrine_module** out);
VITRINE_API void vitrine_module_free(vitrine_module* module);

VITRINE_API size_t vitrine_module_num_methods(const vitrine_module* module);
/* NULL if `index` is too large. */
VITRINE_API const char* vitrine_module_method_name(const vitrine_module* module, size_t index);

/* One input or output of a method. */
typedef struct vitrine_info {
  vitrine_kind kind;
  vitrine_dtype dtype; /* this and the next three of arrays only */
  size_t rank;
  const int32_t* sizes; /* the upper bounds if it is dynamic */
  int is_dynamic;
  /* Of all kinds: the key of its dict or keyword argument in the model, or the path from there, as
   * in "state.keys[0]". NULL if the program has no name for it. Not always unique. */
  const char* name;
} vitrine_info;
VITRINE_API vitrine_error* vitrine_method_counts(const vitrine_module* module, const char* method,
                                                 size_t* num_inputs, size_t* num_outputs);
VITRINE_API vitrine_error* vitrine_method_input(const vitrine_module* module, const char* method,
                                                size_t index, vitrine_info* out);
VITRINE_API vitrine_error* vitrine_method_output(const vitrine_module* module, const char* method,
                                                 size_t index, vitrine_info* out);

/* Calls a method, and loads it before its first call. `num_outputs` is exactly that of the method.
 * `outputs` are written without being freed before, so none of them may be one of `inputs`
 * (InvalidArgument). An array of vitrine_array_new may be written if the program updates that
 * input; a borrowed one is not. An input that does not fit is InvalidArgument, or NotSupported
 * (0x10) if it has other sizes than a static shape. */
VITRINE_API vitrine_error* vitrine_module_call(vitrine_module* module, const char* method,
                                               const vitrine_value* inputs, size_t num_inputs,
                                               vitrine_value* outputs, size_t num_outputs);

/* Where the time of the calls since loading or the last reset went, as JSON: by method, instruction
 * and operator inside delegates (docs/formats/call_profile.md). The text is freed with
 * vitrine_string_free. InvalidState (2) if `profile` was not set when the module was loaded. */
VITRINE_API vitrine_error* vitrine_module_profile_json(const vitrine_module* module, char** out);
VITRINE_API vitrine_error* vitrine_module_profile_reset(vitrine_module* module);
VITRINE_API void vitrine_string_free(char* string);

#ifdef __cplusplus
}
#endif

#endif /* VITRINE_H */
