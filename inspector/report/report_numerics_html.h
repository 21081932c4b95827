// Writes the errors of a program's operators as one page for a browser (docs/numerics.md). The page
// needs no network and no other files.
#pragma once

#include <string>

#include "inspector/compare/numerics.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// `timed` is a profile of the program without captured values, whose times the page shows; may be
// null. Names are shown as text, never as markup.
std::string report_numerics_html(const Numerics& numerics, const Profile& program,
                                 const Profile& reference, const Profile* timed);

}  // namespace vitrine::inspector
