// Builds and lowers small language models with several methods, for tests.
#pragma once

#include <filesystem>
#include <memory>

#include "aot/emit/emit.h"
#include "test/support/program_builder.h"
#include "tools/common/session.h"
#include "vitrine/method_decoder.h"
#include "vitrine/program.h"

namespace vitrine::test {

// Lowers the methods and returns the program file. If `share_buffers` is true, methods share their
// mutable buffers.
AlignedBytes lower_methods(aot::Methods methods, bool share_buffers,
                           const aot::EmitOptions& options = {});
// Lowers the program as the method "forward".
AlignedBytes lower_method(aot::ExportedProgram forward, const aot::EmitOptions& options = {});
std::shared_ptr<const Program> load_program(const AlignedBytes& file);

// A loaded file and the decoder of its method "forward". If `threads` is 0, the session uses one
// thread per performance core.
class OneMethod {
 public:
  explicit OneMethod(const std::filesystem::path& file, size_t threads = 1)
      : session({file, {}, threads}),
        method(session.load_method("forward")),
        decoder(session.program(), *method) {}

  tools::Session session;
  std::unique_ptr<Method> method;
  MethodDecoder decoder;
};

// Returns an encoder and a decoder. The encoder maps ids, i64[1, n], to one-hot rows, f32[1, n,
// words]. The decoder's inputs are ids i64[1, 1], the output of the encoder, and a position i64[1].
// The decoder predicts the next larger id among the encoded ids. After the largest id, it predicts
// the smallest. At position `end` and later positions, it predicts 0.
aot::Methods seen_words_model(int64_t words, int64_t length, int64_t end);

}  // namespace vitrine::test
