# Writes the runner's exports: for each function that compiled programs may call, its name and its
# address. The running program alone knows the address, because the C library selects functions by
# the processor. Arguments: NM, KERNELS (an archive: all its rml_… functions), ROWS (a source with
# rows of operators; those that are functions of the C library have its names), PAGE_BITS (of an
# address within a page), OUTPUT.
include(${CMAKE_CURRENT_LIST_DIR}/../called_by_programs.cmake)
set(functions ${RML_CALLED_BY_PROGRAMS} memcpy memmove memset memcmp)
file(READ ${ROWS} text)
string(REGEX MATCHALL "called\\([ \n]*\"[a-z0-9]+\"" called "${text}")
list(TRANSFORM called REPLACE "called\\([ \n]*\"([a-z0-9]+)\"" "\\1")
if(NOT called)
  message(FATAL_ERROR "${ROWS} has no row that is called")
endif()
# Other functions that generated code calls, or by which LLVM implements operations.
foreach(name IN LISTS called ITEMS ceil cos erf exp exp10 exp2 expm1 floor fma fmax fmin fmod ldexp lgamma log log10
    log1p log2 nearbyint pow rint round roundeven sin sincos sqrt tanh tgamma trunc)
  list(APPEND functions ${name} ${name}f)
endforeach()
# Conversions of half floats, for processors without them; a compiler's library may lack some.
set(weak __extendhfsf2 __truncsfhf2 __truncdfhf2 __truncsfbf2 __truncdfbf2)

execute_process(COMMAND ${NM} --defined-only --extern-only ${KERNELS} OUTPUT_VARIABLE symbols
  ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T rml_[a-z0-9_]+" kernels "${symbols}")
list(TRANSFORM kernels REPLACE "^ T " "")
list(REMOVE_DUPLICATES kernels)

set(rows "")
set(names "")
foreach(name IN LISTS functions weak kernels)
  string(APPEND rows "  .quad .Lname_${name}, ${name}\n")
  string(APPEND names ".Lname_${name}: .asciz \"${name}\"\n")
endforeach()
foreach(name IN LISTS weak)
  string(APPEND names ".weak ${name}\n")
endforeach()
file(WRITE ${OUTPUT} "# Written by exports.cmake: what is attached, then a row for each function, in pages of their own.
.section .rml_runner, \"aw\", %progbits
.p2align ${PAGE_BITS}
.globl rml_attached
rml_attached: .quad 0, 0, 0, 0, 0
${rows}
.p2align ${PAGE_BITS}
.globl rml_attached_end
rml_attached_end:
.section .rml_names, \"a\", %progbits
${names}
# This note is never read; its program header makes room for one of the program's, as not all linkers leave two.
.section .note.rml, \"a\", %note
.p2align 3
.long 4, 0, 1
.asciz \"rml\"
.section .note.GNU-stack, \"\", %progbits
")
