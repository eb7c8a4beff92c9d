// A program may be started without standard input, output or errors (`<&-`). The next file that it opens would get the
// free descriptor: rows would be written into whatever that is, or awaited from it.
#pragma once

namespace rml::rt {

// Of standard input, output and errors, those that are closed are opened such that every use of them fails as that of a
// closed one does. A program calls it before it opens anything; a library leaves the descriptors to its host.
void open_standard_streams();

}  // namespace rml::rt
