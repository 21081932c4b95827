// Finds samples of a model's inputs in files, folders and lists.
//
// For a model with one input, each file is a sample. For a model with several inputs, a sample is
// one of these:
// - a .npz file with an array for each input
// - a folder with a file for each input
// - files whose names differ only in the input's name or number at the end: "3_ids.npy" and
//   "3_mask.npy", or "calib_3_0.bin" and "calib_3_1.bin"
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/npy.h"

namespace vitrine::tools {

struct SampleFiles {
  std::string name;                          // name of the sample in messages
  std::vector<std::filesystem::path> files;  // one per input, or one .npz file

  bool is_archive() const;
};

struct SampleQuery {
  const char* option;       // name of the option in errors: "--calibrate"
  std::string_view prefix;  // if files of a folder have this prefix, other files are ignored
  // Names of the model's tensor inputs. A .pte does not name inputs: pass "0", "1", ...
  std::vector<std::string> inputs;
};

// Finds the samples in files, folders and lists (.txt files with a path per line). Files in a
// folder are in natural order: 2 before 10. Throws ToolErrors that name the option and the file.
std::vector<SampleFiles> find_samples(const std::vector<std::string>& paths,
                                      const SampleQuery& query);

// Moves the array for query.inputs[input] out of `arrays`. The array has the input's name or the
// name "arr_<input>". A single array for a single input may have any name. Throws a ToolError that
// names `file`.
NumpyArray take_array(const std::filesystem::path& file, const SampleQuery& query, size_t input,
                      std::map<std::string, NumpyArray>& arrays);

}  // namespace vitrine::tools
