// See standard_streams.h.
#include "runtime/base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace rml::rt {

void open_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // All below are open, so that this one is the lowest that is free. Reading fails where it may only be written, and
    // the other way round.
    const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) return;  // Where there are no devices, those above cannot be opened either.
  }
}

}  // namespace rml::rt
