// The runtime as an executable without a program. It is linked once, when rmlc is built. To make
// an executable, rmlc appends the code of a program to it and stores the location of that code in
// rml_attached (driver/programs/attach_program.cc). This takes a millisecond, whereas linking
// takes fifty.
//
// The system may load the executable at any address. Before the program is called, its addresses
// are relocated, and its pages with addresses and those of the function table become read-only.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>

#include "runtime/base/rmlrt.h"

extern "C" {
// Defined in assembly, with the table of exports, so that the optimiser does not assume that it
// is null. Addresses are relative to a program at address 0.
struct RmlAttached {
  std::uint64_t program;
  std::uint64_t sealed, bytes;  // the pages that contain addresses, which are made read-only
  std::uint64_t moved, count;   // the list of words to relocate
};
extern const RmlAttached rml_attached;
extern const char rml_attached_end[];
// set by the linker: address 0 of the program
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
}

namespace {

char* at(std::uint64_t address) { return const_cast<char*>(__ehdr_start) + address; }

bool seal(const void* begin, std::uint64_t bytes) { return mprotect(const_cast<void*>(begin), bytes, PROT_READ) == 0; }

bool move_and_seal() {
  const auto base = reinterpret_cast<std::uint64_t>(__ehdr_start);
  const auto* moved = reinterpret_cast<const std::uint64_t*>(at(rml_attached.moved));
  for (std::uint64_t k = 0; k < rml_attached.count; ++k) *reinterpret_cast<std::uint64_t*>(at(moved[k])) += base;
  const auto* table = reinterpret_cast<const char*>(&rml_attached);
  return seal(at(rml_attached.sealed), rml_attached.bytes) &&
         seal(table, static_cast<std::uint64_t>(rml_attached_end - table));
}

}  // namespace

int main(int argc, char** argv) {
  if (!move_and_seal()) {
    std::perror("cannot protect the program's tables");
    return 1;
  }
  return rml_main(reinterpret_cast<const rml_program*>(at(rml_attached.program)), argc, argv);
}
