// Replaces a closed stream by /dev/null, opened in the opposite direction.
#include "runtime/base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace rml::rt {

void open_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // All lower descriptors are open, so open() returns this one. Reading fails from a stream
    // that is opened for writing, and vice versa.
    const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) return;  // without /dev/null, the other streams cannot be opened either
  }
}

}  // namespace rml::rt
