// The program rmlc: its command line, and nothing else.
#include "driver/commands/commands.h"

int main(int argc, char** argv) { return rml::command_line(argc, argv); }
