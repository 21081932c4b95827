#include "runtime/platform/random.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "runtime/platform/clock.h"
#include "runtime/platform/file.h"

namespace vitrine::platform {
namespace {

// Returns the number of filled bytes. Calls the system directly, because some C libraries lack
// getrandom().
size_t fill_by_system(std::span<std::byte> out) {
  size_t filled = 0;
#ifdef SYS_getrandom
  constexpr unsigned kDoNotWait = 1;  // GRND_NONBLOCK
  while (filled < out.size()) {
    const long got = ::syscall(SYS_getrandom, out.data() + filled, out.size() - filled, kDoNotWait);
    if (got <= 0) {
      if (got < 0 && errno == EINTR) continue;
      break;
    }
    filled += static_cast<size_t>(got);
  }
#endif
  return filled;
}

}  // namespace

void fill_random(std::span<std::byte> out) {
  out = out.subspan(fill_by_system(out));
  uint64_t state = mix(reinterpret_cast<uintptr_t>(out.data()), reinterpret_cast<uintptr_t>(&mix));
  while (!out.empty()) {
    state = mix(mix(state, now_ns()), ticks());
    const size_t size = std::min(out.size(), sizeof state);
    std::memcpy(out.data(), &state, size);
    out = out.subspan(size);
  }
}

}  // namespace vitrine::platform
