/* What the tests in C share. */
#ifndef VITRINE_TEST_API_C_API_CHECKS_H
#define VITRINE_TEST_API_C_API_CHECKS_H

#include <vitrine.h>

extern int failures;

void expect(int holds, const char* what);
/* Ends the program if there is an error: what follows would have nothing to look at. */
void need(vitrine_error* error);
/* Frees the error. Its message must hold `text`. */
void expect_error(vitrine_error* error, uint32_t code, const char* text);
/* `forward`, which takes one array and gives one. */
void call_with_zeros(vitrine_module* module);

#endif
