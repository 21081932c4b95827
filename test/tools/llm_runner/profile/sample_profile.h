// Makes the profile of a text that the sample model generates.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "test/support/corpus.h"
#include "tools/common/delegate_profiles.h"
#include "tools/common/profile_report.h"
#include "tools/common/session.h"
#include "tools/llm_runner/profile/token_profile.h"
#include "vitrine/method_decoder.h"
#include "vitrine/text_generator.h"

namespace vitrine::llm {

class SampleProfile : public testing::Test {
 protected:
  explicit SampleProfile(int64_t new_tokens = 40)
      : session_({test::sample("kjv_8da4w/model.pte"), {}, 1}) {
    method_ = session_.load_method("forward", &profiler_.tracer());
    MethodDecoder decoder(session_.program(), *method_);
    TextGenerator generator(decoder, nullptr);
    generator.set_observer(&profiler_);
    generator.generate(
        std::vector<TokenId>{1, 43, 456, 5, 42},
        {.max_new_tokens = new_tokens, .sampling = {.temperature = 0}, .ignore_eos = true});
    TokenProfileFacts facts{.delegates = tools::all_delegate_profiles(),
                            .max_context = decoder.info().max_context};
    facts.run.model = "model.pte";
    MemoryUsage usage;
    method_->add_memory_usage(usage);
    facts.run.memory = tools::memory_info(usage);
    profile_ = make_token_profile(profiler_, *session_.program(), {{method_->meta()}}, facts);
  }

  tools::Session session_;
  TokenProfiler profiler_;
  std::unique_ptr<Method> method_;
  TokenProfile profile_;
};

}  // namespace vitrine::llm
