// Finds the kernels and backends that a plan names, and reports missing kernels and backends.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "runtime/core/sort.h"
#include "runtime/executor/method_loader.h"
#include "runtime/platform/vector_size.h"

namespace vitrine {
namespace {

// Joins "aten::add" and "out" to "aten::add.out". Returns null if memory runs out.
const char* join_name(const fbs::Operator& op, MemoryAllocator& arena) {
  const std::string_view name = op.name()->string_view();
  const std::string_view overload =
      op.overload() != nullptr ? op.overload()->string_view() : std::string_view();
  const std::span<char> text = arena.allocate_array<char>(name.size() + overload.size() + 2);
  if (text.empty()) return nullptr;
  char* end = std::copy(name.begin(), name.end(), text.data());
  if (!overload.empty()) {
    *end++ = '.';
    end = std::copy(overload.begin(), overload.end(), end);
  }
  *end = '\0';
  return text.data();
}

// Returns the names as "a, b, c", sorted and without duplicates.
const char* list_names(std::span<const char*> names, MemoryAllocator& arena) {
  sort(names, [](const char* a, const char* b) { return std::strcmp(a, b) < 0; });
  size_t bytes = 1;
  for (const char* name : names) bytes += std::strlen(name) + 2;
  const std::span<char> text = arena.allocate_array<char>(bytes);
  if (text.empty()) return "";
  char* end = text.data();
  const char* previous = nullptr;
  for (const char* name : names) {
    if (previous != nullptr && std::strcmp(name, previous) == 0) continue;
    if (previous != nullptr) end = std::copy_n(", ", 2, end);
    end = std::copy_n(name, std::strlen(name), end);
    previous = name;
  }
  return text.data();
}

}  // namespace

Error MethodLoader::find_kernels_and_backends() {
  operators_ = arena_.allocate_array<ResolvedOperator>(size_of(plan_.operators()));
  if (operators_.size() != size_of(plan_.operators())) return no_memory("operators");
  // The size of the file does not limit this work, because many operators may share a long name.
  // Sorting n names reads each letter about log(n) times.
  const auto per_letter =
      static_cast<uint64_t>(std::bit_width(operators_.size() + size_of(plan_.delegates())));
  bool all_found = true;
  for (uint32_t i = 0; i < operators_.size(); ++i) {
    ResolvedOperator& op = operators_[i];
    const fbs::Operator& from = *plan_.operators()->Get(i);
    VITRINE_RETURN_IF_ERROR(
        charge_steps((from.name()->size() + size_of(from.overload())) * per_letter));
    op.name = join_name(from, arena_);
    if (op.name == nullptr) return no_memory("operator names");
    if (options_.kernels != nullptr) op.found = options_.kernels->find(op.name);
    all_found = all_found && op.found.kernel != nullptr;
  }
  for (uint32_t i = 0; i < size_of(plan_.delegates()); ++i) {
    VITRINE_RETURN_IF_ERROR(charge_steps(plan_.delegates()->Get(i)->id()->size() * per_letter));
    all_found = all_found && has_backend(i);
  }
  return all_found ? Error() : missing_names_error();
}

bool MethodLoader::has_backend(uint32_t delegate) const {
  return options_.backends != nullptr &&
         options_.backends->find(plan_.delegates()->Get(delegate)->id()->string_view()) != nullptr;
}

Error MethodLoader::missing_names_error() {
  const std::span<const char*> names =
      arena_.allocate_array<const char*>(operators_.size() + size_of(plan_.delegates()));
  if (names.empty()) return no_memory("missing names");
  size_t count = 0;
  for (const ResolvedOperator& op : operators_) {
    if (op.found.kernel == nullptr) names[count++] = op.name;
  }
  const size_t operators = count;
  for (uint32_t i = 0; i < size_of(plan_.delegates()); ++i) {
    if (!has_backend(i)) names[count++] = plan_.delegates()->Get(i)->id()->c_str();
  }
  const size_t backends = count - operators;
  return Error::make(
      operators == 0 ? ErrorCode::kNotFound : ErrorCode::kOperatorMissing,
      "%s: this build lacks%s%s%s%s%s: register, link or select them (VITRINE_SELECT_OPS)",
      plan_.name()->c_str(), operators == 0 ? "" : " the operators ",
      list_names(names.first(operators), arena_), operators != 0 && backends != 0 ? " and" : "",
      backends == 0 ? "" : " the backends ",
      list_names(names.subspan(operators, backends), arena_));
}

Error MethodLoader::missing_dtypes_error() {
  std::array<const char*, kNumScalarTypes> names{};
  size_t count = 0;
  for (int i = 0; i < kNumScalarTypes; ++i) {
    if ((missing_dtypes_ >> i & 1u) != 0) {
      names[count++] = scalar_type_name(static_cast<ScalarType>(i));
    }
  }
  return Error::make(ErrorCode::kNotSupported,
                     "%s: dtype %s is not in this build: add it to VITRINE_SELECT_OPS",
                     plan_.name()->c_str(), list_names(std::span(names).first(count), arena_));
}

}  // namespace vitrine
