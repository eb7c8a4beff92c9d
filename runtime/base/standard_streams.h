// A program may be started with closed standard streams (`<&-`). The next file that it opens
// would get such a descriptor, and rows could be written to that file or read from it.
#pragma once

namespace rml::rt {

// Opens each closed standard stream in such a way that reading from it or writing to it fails. A
// program calls this before it opens anything; a library leaves the descriptors to its host.
void open_standard_streams();

}  // namespace rml::rt
