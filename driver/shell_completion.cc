// Writes scripts that complete commands, their options, phases of `show`, and files.
#include "driver/shell_completion.h"

#include <iterator>

#include "driver/commands/commands.h"

namespace rml {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

std::string command_names(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& c : commands) names.push_back(c.name);
  return joined(names);
}

std::string phases() { return joined({std::begin(shown_phases), std::end(shown_phases)}); }

std::string bash(const std::vector<CompletedCommand>& commands) {
  std::string text =
      "_rmlc() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" options=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"" +
      command_names(commands) +
      " --help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${COMP_WORDS[1]}\" in\n";
  for (const CompletedCommand& c : commands) text += "    " + c.name + ") options=\"" + joined(c.options) + "\" ;;\n";
  text +=
      "  esac\n"
      "  if [ \"${COMP_WORDS[1]}\" = show ] && [ \"$COMP_CWORD\" -eq 2 ]; then options=\"" +
      phases() +
      "\"; fi\n"
      "  case \"$word\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$options\" -- \"$word\") $(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _rmlc rmlc\n";
  return text;
}

std::string zsh(const std::vector<CompletedCommand>& commands) {
  std::string text =
      "#compdef rmlc\n"
      "_rmlc() {\n"
      "  if (( CURRENT == 2 )); then\n"
      "    compadd -- " +
      command_names(commands) +
      " --help --version\n"
      "    return\n"
      "  fi\n"
      "  case \"${words[2]}\" in\n";
  for (const CompletedCommand& c : commands) text += "    " + c.name + ") compadd -- " + joined(c.options) + " ;;\n";
  text +=
      "  esac\n"
      "  if [[ \"${words[2]}\" == show ]] && (( CURRENT == 3 )); then compadd -- " +
      phases() +
      "; fi\n"
      "  _files\n"
      "}\n"
      "compdef _rmlc rmlc\n";
  return text;
}

std::string fish(const std::vector<CompletedCommand>& commands) {
  std::string text;
  for (const CompletedCommand& c : commands) {
    text += "complete -c rmlc -n __fish_use_subcommand -f -a " + c.name + " -d '" + c.text + "'\n";
    for (const std::string& option : c.options) {
      const bool longer = option.starts_with("--");
      text += "complete -c rmlc -n '__fish_seen_subcommand_from " + c.name + "' " + (longer ? "-l " : "-s ") +
              option.substr(longer ? 2 : 1) + "\n";
    }
  }
  text += "complete -c rmlc -n '__fish_seen_subcommand_from show' -f -a '" + phases() + "'\n";
  return text;
}

}  // namespace

std::string shell_completion(const std::string& shell, const std::vector<CompletedCommand>& commands) {
  if (shell == "zsh") return zsh(commands);
  return shell == "fish" ? fish(commands) : bash(commands);
}

}  // namespace rml
