# Builds Oniguruma and SentencePiece from pinned sources for Android. Sets ONIGURUMA_LIBRARY, SENTENCEPIECE_LIBRARY and
# the variables of their include folders. For other targets, cmake/Dependencies.cmake sets these variables to installed
# libraries.

# The columns are those of VITRINE_PINS in cmake/third_party/pins.cmake.
set(VITRINE_TOKENIZER_PINS
  "Oniguruma|08d36110c5670c815ad6d6f969e578049d209080|https://github.com/kkos/oniguruma.git|libo/libonig/libonig_6.9.8.orig.tar.gz|26372720bab6733c869a9eb69377f73971138dc5e3eff4a81f5ba8aea5435fb2"
  "SentencePiece|58f256cf6f01bb86e6fa634a5cc560de5bd1667d|https://github.com/google/sentencepiece.git|s/sentencepiece/sentencepiece_0.1.97.orig.tar.gz|56430381f45dc6debfd2e0cbde4f039f9499c49ca825af184b0cbf318c17a18f")

# Sets Oniguruma_SOURCE_DIR and SentencePiece_SOURCE_DIR.
function(_vitrine_fetch_tokenizer_libraries)
  include(third_party/sources)
  set(VITRINE_PINS "${VITRINE_TOKENIZER_PINS}")
  string(SHA256 key "${VITRINE_PINS}")
  string(SUBSTRING ${key} 0 16 key)
  set(folder ${VITRINE_DEPS_DIR}/tokenizers-${key})
  file(MAKE_DIRECTORY ${folder})
  file(LOCK ${folder}.lock GUARD FUNCTION)
  vitrine_fetch_sources(${folder})
  foreach(name Oniguruma SentencePiece)
    set(${name}_SOURCE_DIR ${${name}_SOURCE_DIR} PARENT_SCOPE)
  endforeach()
endfunction()
_vitrine_fetch_tokenizer_libraries()

# The projects' own CMake files would install programs and change options of this build.
set(configured ${PROJECT_BINARY_DIR}/tokenizer_libraries)
function(_vitrine_tokenizer_library name)
  add_library(${name} STATIC ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF C_STANDARD 11 CXX_STANDARD 17)
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} PRIVATE ${configured}/${name})
endfunction()

# Takes the sizes of types from the compiler's macros, so that one file serves all targets.
file(WRITE ${configured}/vitrine_onig/config.h
"#define HAVE_ALLOCA 1
#define HAVE_ALLOCA_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_TIMES_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_VOIDP __SIZEOF_POINTER__
#define USE_CRNL_AS_LINE_TERMINATOR 0
")
set(sources regerror regparse regext regcomp regexec reggnu regenc regsyntax regtrav regversion st onig_init ascii utf8
  unicode unicode_unfold_key unicode_fold1_key unicode_fold2_key unicode_fold3_key)
list(TRANSFORM sources REPLACE "(.+)" "${Oniguruma_SOURCE_DIR}/src/\\1.c")
_vitrine_tokenizer_library(vitrine_onig ${sources})
set(ONIGURUMA_LIBRARY vitrine_onig)
set(ONIGURUMA_INCLUDE_DIR ${Oniguruma_SOURCE_DIR}/src)

file(WRITE ${configured}/vitrine_spm/config.h
"#define PACKAGE \"sentencepiece\"
#define PACKAGE_STRING PACKAGE
#define VERSION \"0.1.97\"
")
set(sources bpe_model char_model error filesystem model_factory model_interface normalizer sentencepiece_processor
  unigram_model util word_model builtin_pb/sentencepiece.pb builtin_pb/sentencepiece_model.pb)
list(TRANSFORM sources REPLACE "(.+)" "${SentencePiece_SOURCE_DIR}/src/\\1.cc")
file(GLOB protobuf ${SentencePiece_SOURCE_DIR}/third_party/protobuf-lite/*.cc)
_vitrine_tokenizer_library(vitrine_spm ${sources} ${protobuf}
  ${SentencePiece_SOURCE_DIR}/third_party/absl/flags/flag.cc ${SentencePiece_SOURCE_DIR}/third_party/absl/strings/string_view.cc)
target_compile_definitions(vitrine_spm PRIVATE _USE_INTERNAL_STRING_VIEW HAVE_PTHREAD=1)
foreach(folder . src src/builtin_pb third_party third_party/protobuf-lite)
  target_include_directories(vitrine_spm PRIVATE ${SentencePiece_SOURCE_DIR}/${folder})
endforeach()
target_link_libraries(vitrine_spm PRIVATE Threads::Threads)
if(ANDROID)
  target_link_libraries(vitrine_spm PRIVATE log)
endif()
set(SENTENCEPIECE_LIBRARY vitrine_spm)
set(SENTENCEPIECE_INCLUDE_DIR ${SentencePiece_SOURCE_DIR}/src)
