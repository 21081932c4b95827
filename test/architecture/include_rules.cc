#include "test/architecture/include_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "test/support/read_text.h"

namespace vitrine::architecture {
namespace {

// Headers whose names begin with `headers` may be included only in `folders`.
struct Library {
  std::string headers;
  std::vector<std::string> folders;
};

// Returns the cells of the data rows of every Markdown table whose header row starts with `first`.
std::vector<std::vector<std::string>> table_rows(std::string_view page, std::string_view first) {
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = std::min(page.find('\n', begin), page.size());
    const std::string_view line = page.substr(begin, end - begin);
    begin = end + 1;
    const bool is_header = line.starts_with(first);
    inside = is_header || (inside && line.starts_with('|'));
    if (!inside || is_header || line.starts_with("|---")) continue;
    std::vector<std::string> cells;
    for (size_t at = 1; at < line.size();) {
      const size_t bar = std::min(line.find('|', at), line.size());
      cells.emplace_back(line.substr(at, bar - at));
      at = bar + 1;
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

// Returns the texts between backquotes.
std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  for (size_t begin = cell.find('`'); begin != std::string_view::npos;) {
    const size_t end = cell.find('`', begin + 1);
    if (end == std::string_view::npos) break;
    names.emplace_back(cell.substr(begin + 1, end - begin - 1));
    begin = cell.find('`', end + 1);
  }
  return names;
}

std::string page() {
  std::string text =
      test::read_text(std::filesystem::path(VITRINE_SOURCE_DIR) / "docs/architecture.md");
  if (text.empty()) throw std::runtime_error("cannot read docs/architecture.md");
  return text;
}

const std::vector<Library>& libraries() {
  static const std::vector<Library> kLibraries = [] {
    std::vector<Library> found;
    for (const auto& cells : table_rows(page(), "| headers |")) {
      for (std::string& headers : names_in(cells.at(0))) {
        found.push_back({std::move(headers), names_in(cells.at(1))});
      }
    }
    return found;
  }();
  return kLibraries;
}

// Headers that device code must not include, because it uses no exceptions, RTTI or streams.
constexpr std::array<std::string_view, 10> kHostHeaders = {
    "iostream", "ostream", "istream",   "fstream",   "sstream",
    "iomanip",  "ios",     "exception", "stdexcept", "typeinfo"};

bool is_inside(std::string_view path, std::string_view folder) {
  return folder.empty() || path == folder ||
         (path.starts_with(folder) && path[folder.size()] == '/');
}

// True if `from` may include `to`, directly or through other rooms. `seen` has the visited rooms.
bool reaches(const Room& from, const Room& to, std::set<std::string_view>& seen) {
  if (!seen.insert(from.folder).second) return false;
  return std::ranges::any_of(from.may_include, [&](std::string_view folder) {
    if (is_inside(to.folder, folder)) return true;
    return std::ranges::any_of(rooms(), [&](const Room& next) {
      return is_inside(next.folder, folder) && reaches(next, to, seen);
    });
  });
}

// Returns the reason why an include is forbidden; empty if it is allowed.
std::string violation(std::string_view path, const Room& from, std::string_view header) {
  if (from.is_device && std::ranges::count(kHostHeaders, header) != 0) {
    return "which is only for the host side";
  }
  for (const Library& library : libraries()) {
    if (!header.starts_with(library.headers)) continue;
    const bool allowed =
        std::ranges::any_of(library.folders, [&](auto folder) { return is_inside(path, folder); });
    return allowed ? "" : "a library that this room must not include";
  }
  if (const Room* to = room_of(header)) {
    return may_include(from, *to) ? "" : "which is in " + to->folder;
  }
  return "";
}

}  // namespace

const std::vector<Room>& rooms() {
  static const std::vector<Room> kRooms = [] {
    std::vector<Room> found;
    for (const auto& cells : table_rows(page(), "| folder |")) {
      Room room;
      room.is_device = cells.at(1) == " device ";
      room.may_include = names_in(cells.at(3));
      if (cells.at(3) == " everything ") room.may_include = {""};
      for (const std::string& name : names_in(cells.at(4))) {
        // For C++ headers, the table omits "vitrine/" and ".h". The C header is not in vitrine/ and
        // has its full name in the table.
        room.public_headers.push_back(name.ends_with(".h") ? name : "vitrine/" + name + ".h");
      }
      for (std::string& folder : names_in(cells.at(0))) {
        room.folder = std::move(folder);
        found.push_back(room);
      }
    }
    return found;
  }();
  return kRooms;
}

const Room* room_of(std::string_view path) {
  constexpr std::string_view kPublic = "include/";
  const std::string_view header = path.starts_with(kPublic) ? path.substr(kPublic.size()) : path;
  const Room* innermost = nullptr;
  for (const Room& room : rooms()) {
    if (std::ranges::count(room.public_headers, header) != 0) return &room;
    if (is_inside(path, room.folder) &&
        (innermost == nullptr || room.folder.size() > innermost->folder.size())) {
      innermost = &room;
    }
  }
  return innermost;
}

bool may_include(const Room& from, const Room& to) {
  std::set<std::string_view> seen;
  return &from == &to || reaches(from, to, seen);
}

std::vector<std::string_view> includes_of(std::string_view source) {
  std::vector<std::string_view> found;
  for (size_t begin = 0; begin < source.size();) {
    const size_t end = std::min(source.find('\n', begin), source.size());
    std::string_view line = source.substr(begin, end - begin);
    begin = end + 1;
    const auto skip = [&line](std::string_view characters) {
      line.remove_prefix(std::min(line.find_first_not_of(characters), line.size()));
    };
    skip(" \t");
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip(" \t");
    constexpr std::string_view kInclude = "include";
    if (!line.starts_with(kInclude)) continue;
    line.remove_prefix(kInclude.size());
    skip(" \t");
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    found.push_back(line.substr(0, line.find(line[0] == '"' ? '"' : '>', 1)));
  }
  return found;
}

std::vector<std::string> unused_permissions(const std::map<std::string, std::string>& sources) {
  std::vector<std::string> unused;
  for (const Library& library : libraries()) {
    for (const std::string& folder : library.folders) {
      const bool is_used = std::ranges::any_of(sources, [&](const auto& file) {
        return is_inside(file.first, folder) &&
               std::ranges::any_of(includes_of(file.second), [&](std::string_view include) {
                 return include.substr(1).starts_with(library.headers);
               });
      });
      if (!is_used) unused.push_back("`" + library.headers + "` in " + folder);
    }
  }
  return unused;
}

std::vector<std::string> violations(std::string_view path, std::string_view source) {
  const Room* from = room_of(path);
  if (from == nullptr) return {std::string(path) + ": is in no room"};
  std::vector<std::string> found;
  for (const std::string_view include : includes_of(source)) {
    const std::string_view header = include.substr(1);
    const auto complain = [&](const std::string& reason) {
      found.push_back(std::string(path) + ": includes " + std::string(header) + ", " + reason);
    };
    if (const std::string reason = violation(path, *from, header); !reason.empty()) {
      complain(reason);
    } else if (include[0] == '"' && room_of(header) == nullptr &&
               std::ranges::none_of(libraries(), [&](const Library& library) {
                 return header.starts_with(library.headers);
               })) {
      complain("which is not a path from the root");
    }
  }
  return found;
}

}  // namespace vitrine::architecture
