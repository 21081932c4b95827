/* Functions that the C tests share. */
#ifndef VITRINE_TEST_API_C_API_CHECKS_H
#define VITRINE_TEST_API_C_API_CHECKS_H

#include <vitrine.h>

extern int failures;

void expect(int holds, const char* what);
/* Ends the program if there is an error, because later checks need the result. */
void need(vitrine_error* error);
/* Checks the code of an error and that its message contains `text`. Frees the error. */
void expect_error(vitrine_error* error, uint32_t code, const char* text);
/* Loads a module, or ends the program. */
vitrine_module* load(const char* path, const vitrine_options* options);
/* Returns an array of zeros with the type and sizes of the first input of the method `forward`. */
vitrine_value zeros(vitrine_module* module);
/* Calls the method `forward`, which has one array as input and one as output. */
void call_with_zeros(vitrine_module* module);

#endif
