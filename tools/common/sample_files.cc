#include "tools/common/sample_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kExtensions = {".bin", ".npy", ".npz"};

[[noreturn]] void refuse(const SampleQuery& query, const fs::path& path, std::string_view text) {
  throw ToolError(fmt::format("{} {}: {}", query.option, path.string(), text));
}

// Orders names. Numbers within names sort by value: "2" comes before "10".
bool is_before(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto digits = [&](const std::string& text, size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return std::string_view(text).substr(start, at - start);
  };
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = digits(a, i);
      const std::string_view y = digits(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j || (a.size() - i == b.size() - j && a < b);
}

bool is_data_file(const fs::path& path) {
  return std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries, [](const fs::path& a, const fs::path& b) {
    return is_before(a.filename().string(), b.filename().string());
  });
  return entries;
}

class SampleFinder {
 public:
  explicit SampleFinder(const SampleQuery& query) : query_(query) {}

  void add(const fs::path& path, int depth = 0) {
    if (!fs::exists(path)) refuse(query_, path, "the file does not exist");
    if (fs::is_directory(path)) {
      add_folder(path);
    } else if (path.extension() == ".txt" && depth == 0) {
      add_list(path);
    } else if (is_data_file(path)) {
      add_file(path);
    } else {
      refuse(query_, path,
             "expected a .bin, .npy or .npz file, a folder of them, or a list of them (.txt)");
    }
  }

  std::vector<SampleFiles> take() {
    for (const SampleFiles& sample : samples_) {
      if (sample.is_archive()) continue;
      for (size_t i = 0; i < query_.inputs.size(); ++i) {
        if (i < sample.files.size() && !sample.files[i].empty()) continue;
        throw ToolError(
            fmt::format("{} {}: expected a file for each input, but the input {} has none",
                        query_.option, sample.name, query_.inputs[i]));
      }
    }
    return std::move(samples_);
  }

 private:
  std::string input_names() const { return fmt::format("{}", fmt::join(query_.inputs, ", ")); }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> entries = sorted_entries(folder);
    const bool has_prefix =
        !query_.prefix.empty() && std::ranges::any_of(entries, [&](const fs::path& entry) {
          return is_data_file(entry) && entry.filename().string().starts_with(query_.prefix);
        });
    const size_t before = samples_.size();
    for (const fs::path& entry : entries) {
      if (!is_data_file(entry) || fs::is_directory(entry)) continue;
      if (has_prefix && !entry.filename().string().starts_with(query_.prefix)) continue;
      add_file(entry);
    }
    if (samples_.size() > before) return;
    for (const fs::path& entry : entries) {
      if (fs::is_directory(entry)) add_sample_folder(entry);
    }
    if (samples_.size() == before) {
      refuse(query_, folder, "the folder has no .bin, .npy or .npz files");
    }
  }

  void add_sample_folder(const fs::path& folder) {
    const size_t before = samples_.size();
    for (const fs::path& entry : sorted_entries(folder)) {
      if (is_data_file(entry)) add_file(entry);
    }
    if (samples_.size() == before)
      refuse(query_, folder, "the folder has no .bin, .npy or .npz files");
  }

  void add_list(const fs::path& list) {
    const std::vector<std::byte> bytes = read_file(list);
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    const size_t before = samples_.size();
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty() || line.starts_with('#')) continue;
      add(list.parent_path() / line, 1);
    }
    if (samples_.size() == before) refuse(query_, list, "the list has no files");
  }

  void add_file(const fs::path& file) {
    if (query_.inputs.size() < 2 || file.extension() == ".npz") {
      samples_.push_back({file.string(), {file}});
      return;
    }
    const auto [stem, index] = split_name(file);
    const std::string name = (file.parent_path() / stem).string();
    if (samples_.empty() || samples_.back().name != name) {
      samples_.push_back({name, std::vector<fs::path>(query_.inputs.size())});
    }
    fs::path& to = samples_.back().files[index];
    if (!to.empty())
      refuse(query_, file, fmt::format("the input {} has two files", query_.inputs[index]));
    to = file;
  }

  // Splits "calib_3_ids" into "calib_3" and the index of the input.
  std::pair<std::string, size_t> split_name(const fs::path& file) const {
    const std::string stem = file.stem().string();
    for (size_t i = 0; i < query_.inputs.size(); ++i) {
      if (stem == query_.inputs[i]) return {"", i};
      for (const std::string& suffix : {"_" + query_.inputs[i], fmt::format("_{}", i)}) {
        if (stem.ends_with(suffix)) return {stem.substr(0, stem.size() - suffix.size()), i};
      }
    }
    refuse(query_, file,
           fmt::format("the model has the inputs {}; end each file's name with its input, such as "
                       "_{} or _0, or use .npz files",
                       input_names(), query_.inputs.front()));
  }

  const SampleQuery& query_;
  std::vector<SampleFiles> samples_;
};

}  // namespace

bool SampleFiles::is_archive() const { return files.size() == 1 && files[0].extension() == ".npz"; }

std::vector<SampleFiles> find_samples(const std::vector<std::string>& paths,
                                      const SampleQuery& query) {
  SampleFinder finder(query);
  for (const std::string& path : paths) finder.add(path);
  return finder.take();
}

NumpyArray take_array(const fs::path& file, const SampleQuery& query, size_t input,
                      std::map<std::string, NumpyArray>& arrays) {
  auto found = arrays.find(query.inputs[input]);
  if (found == arrays.end()) found = arrays.find(fmt::format("arr_{}", input));
  if (found == arrays.end() && arrays.size() == 1 && query.inputs.size() == 1) {
    found = arrays.begin();
  }
  if (found == arrays.end()) {
    std::vector<std::string> names;
    for (const auto& [name, array] : arrays) names.push_back(name);
    refuse(query, file,
           fmt::format("expected the array \"{}\" or \"arr_{}\", found {}", query.inputs[input],
                       input, fmt::join(names, ", ")));
  }
  return std::move(found->second);
}

}  // namespace vitrine::tools
