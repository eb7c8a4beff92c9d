// The whole runtime as a program that only lacks a program: linked once, when rmlc is built. To make
// an executable rmlc appends a program's code to it and lets rml_attached point there
// (driver/attach_program.cc), which takes a millisecond where a linker takes fifty.
#include "runtime/rmlrt.h"

// Defined in assembly, with the table of exports: the optimiser must not know that it is null.
extern "C" const rml_program* rml_attached;

int main(int argc, char** argv) { return rml_main(rml_attached, argc, argv); }
