// JSON and CSV of the errors of a program's operators, which several reports share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "inspector/compare/numerics.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Numbers that are infinite or NaN are null. Null without figures.
nlohmann::ordered_json figures_json(const std::optional<TensorDifference>& figures);
// The SQNR as a cell: a number, "inf", "-inf" or "nan". Empty without figures.
std::string sqnr_csv(const std::optional<TensorDifference>& figures);
// Model, method, origin and warnings.
nlohmann::ordered_json program_json(const Profile& profile);

// The document of report_numerics_json(). `timed` may be null; rows then have no times.
nlohmann::ordered_json numerics_json(const Numerics& numerics, const Profile& program,
                                     const Profile& reference, const Profile* timed);

}  // namespace vitrine::inspector
