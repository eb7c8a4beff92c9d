# Writes the table of the runtime's functions that compiled programs call (runtime/run/program_functions.h). Arguments:
# NM, ARCHIVES (all their rml_… functions, a list with commas), OUTPUT.
include(${CMAKE_CURRENT_LIST_DIR}/called_by_programs.cmake)
set(functions ${RML_CALLED_BY_PROGRAMS})
string(REPLACE "," ";" archives "${ARCHIVES}")
foreach(archive IN LISTS archives)
  execute_process(COMMAND ${NM} --defined-only --extern-only ${archive} OUTPUT_VARIABLE symbols
    ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " T rml_[A-Za-z0-9_]+" found "${symbols}")
  list(TRANSFORM found REPLACE "^ T " "")
  list(APPEND functions ${found})
endforeach()
list(REMOVE_DUPLICATES functions)
list(SORT functions)
set(declared "")
set(rows "")
foreach(name IN LISTS functions)
  string(APPEND declared "void ${name}();\n")
  string(APPEND rows "    {\"${name}\", ${name}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by program_functions.cmake, in the order of the names.
#include \"runtime/run/program_functions.h\"
extern \"C\" {
${declared}}
namespace rml::rt {
namespace {
constexpr ProgramFunction rows[] = {
${rows}};
}  // namespace
std::span<const ProgramFunction> program_functions() { return rows; }
}  // namespace rml::rt
")
