// Suggests a warm-up run after loading. The first run allocates workspaces, reads the pages of the
// weights and wakes the threads.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_first_run(const Context& context) {
  constexpr double kMinFactor = 1.5;
  constexpr double kMinLostNs = 1e6;
  const inspector::TimeStatistics& wall = context.profile.wall;
  const double steady = context.wall_ns();
  const double lost = wall.first - steady;
  if (lost < kMinLostNs || wall.first < kMinFactor * steady) return {};
  return {{.name = "warm_up",
           .what = "run once after loading, before the first real input",
           .why = fmt::format("the first run takes {}, later runs {}", time_text(wall.first),
                              time_text(steady)),
           .how = "execute the method once with zeros while your application starts; then reset "
                  "the method's state, if it has any",
           .method = "the first run of this profile; no saving is given, because warming up only "
                     "moves the time"}};
}

}  // namespace vitrine::tools
