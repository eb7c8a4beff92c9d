// The whole runtime as a program that only lacks a program: linked once, when rmlc is built. To make
// an executable rmlc appends a program's code to it and writes to rml_attached where that is
// (driver/programs/attach_program.cc), which takes a millisecond where a linker takes fifty.
//
// The program lies wherever the system put it. Before it is called its addresses are moved by that, and its pages
// and those of the table of functions that it calls are sealed: they are not written again.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>

#include "runtime/base/rmlrt.h"

extern "C" {
// Defined in assembly, with the table of exports: the optimiser must not know that it is null. Addresses are
// those of a program at 0.
struct RmlAttached {
  std::uint64_t program;
  std::uint64_t sealed, bytes;  // the pages that hold addresses
  std::uint64_t moved, count;   // the list of the words that do
};
extern const RmlAttached rml_attached;
extern const char rml_attached_end[];
extern const char __ehdr_start[] __attribute__((visibility("hidden")));  // the linker's: address 0 of the program
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
