// Language models of several methods, small, made and lowered here.
#pragma once

#include <map>
#include <string>

#include "aot/emit/emit.h"
#include "test/support/program_builder.h"
#include "vitrine/program.h"

namespace vitrine::test {

// A program's file, of these methods; methods share their buffers if asked to.
AlignedBytes lower_methods(aot::Methods methods, bool share_buffers,
                           const aot::EmitOptions& options = {});
std::shared_ptr<const Program> load_program(const AlignedBytes& file);

// An encoder, ids i64[1, n] -> f32[1, n, words], row i of which is 1 at id i; and a decoder whose
// next id is the next larger one, cyclically, of those that were encoded, and 0 from position
// `end` on. Inputs: ids i64[1, 1], what the encoder gives, position i64[1].
aot::Methods seen_words_model(int64_t words, int64_t length, int64_t end);

}  // namespace vitrine::test
