// Imports damaged models: ONNX models of a folder with bytes changed, removed, duplicated or
// exchanged.
//
//   model_mutants FOLDER [--from SEED] [--count N] [--keep FOLDER]
//
// Each mutant must be refused with a message, or imported as a program that compiles, within
// limits of time and memory. Any other exception is a failure, and so is a crash, after which the
// seed is printed. --keep writes the mutants that are imported, for other tools to judge.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "compiler/import_model.h"
#include "compiler/models/imported_program.h"
#include "compiler/pipeline.h"
#include "driver/base/installation.h"
#include "frontend/render.h"
#include "fuzz/guard.h"
#include "onnx/import.h"
#include "runtime/base/failure.h"

namespace rml::fuzz {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> models_in(const fs::path& folder) {
  constexpr std::uintmax_t largest = 100'000;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".onnx" && entry.is_regular_file() && entry.file_size() <= largest)
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> models;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    models.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return models;
}

class Mutant {
 public:
  Mutant(const std::vector<std::string>& models, std::uint64_t seed) : models_(models), random_(seed) {}

  std::string run() {
    bytes_ = models_[random_() % models_.size()];
    for (std::uint64_t n = 1 + random_() % 4; n > 0; --n) change();
    return bytes_;
  }

 private:
  std::size_t place() { return bytes_.empty() ? 0 : random_() % bytes_.size(); }

  void change() {
    // Values that are likely to reveal errors in lengths, extents and kinds.
    static constexpr unsigned char telling[] = {0, 1, 2, 7, 8, 16, 127, 128, 255};
    const std::size_t at = place(), length = 1 + random_() % 16;
    if (bytes_.empty()) return;
    switch (random_() % 7) {
      case 0:
        bytes_[at] = static_cast<char>(bytes_[at] ^ 1 << random_() % 8);
        break;
      case 1:
        bytes_[at] = static_cast<char>(telling[random_() % std::size(telling)]);
        break;
      case 2:
        bytes_.erase(at, length);
        break;
      case 3:
        bytes_.insert(place(), bytes_.substr(at, length));
        break;
      case 4: {
        const std::string& other = models_[random_() % models_.size()];
        const std::size_t from = random_() % std::max<std::size_t>(other.size(), 1);
        bytes_.replace(at, length, other.substr(from, length));
        break;
      }
      case 5:
        bytes_.resize(at);
        break;
      default:
        // Changes one letter of a name or text.
        for (std::size_t k = at; k < bytes_.size(); ++k) {
          if (bytes_[k] < 'a' || bytes_[k] > 'z') continue;
          bytes_[k] = static_cast<char>('a' + random_() % 26);
          break;
        }
    }
  }

  const std::vector<std::string>& models_;
  std::mt19937_64 random_;
  std::string bytes_;
};

enum Result : std::uint8_t { refused, imported, wrong };

Result check(const std::string& bytes, std::string& what) {
  try {
    const onnx::Model model = onnx::decode_model(bytes, "/nowhere");
    auto result = onnx::import(model, {});
    if (const auto* failure = std::get_if<onnx::ImportFailure>(&result)) {
      if (!failure->errors.empty() && !failure->errors.front().message.empty()) return refused;
      what = "refused without a word";
      return wrong;
    }
    const auto& program = std::get<onnx::Imported>(result);
    Session session(own_resources());
    give_weights(*session.files, program);
    const Front front = check_text(session, "mutant.rml", program.source);
    const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
    const auto elaborated = entry ? elaborate(session, front, *entry, {}, session.diagnostics) : std::nullopt;
    if (elaborated && !session.failed())
      if (const auto arranged = arrange(session, *elaborated, session.diagnostics)) lower(session, *arranged);
    if (!session.failed()) return imported;
    // A model may divide integers by a constant 0. Then the program is refused, at the division.
    if (std::ranges::all_of(session.diagnostics.all(), [](const Diagnostic& d) {
          return d.code == Code::E0312 || severity(d.code) == Severity::warning;
        }))
      return refused;
    what = render_human(session.diagnostics, session.sources, false) + program.source;
    return wrong;
  } catch (const onnx::ModelError& error) {
    if (!error.message.empty()) return refused;
    what = "refused without a word";
  } catch (const std::exception& e) {
    what = e.what();
  }
  return wrong;
}

struct Arguments {
  std::string folder, keep;
  std::uint64_t from = 1, count = 1000;
};

int run(const Arguments& arguments) {
  guard_process();
  const std::vector<std::string> models = models_in(arguments.folder);
  if (models.empty()) {
    std::fprintf(stderr, "no models in %s\n", arguments.folder.c_str());
    return 2;
  }
  std::uint64_t seen[3] = {};
  for (std::uint64_t seed = arguments.from; seed < arguments.from + arguments.count; ++seed) {
    begin_seed(seed);
    const std::string bytes = Mutant(models, seed).run();
    std::string what;
    const Result result = check(bytes, what);
    ++seen[result];
    if (result == wrong) std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), what.c_str());
    if (result == refused || arguments.keep.empty()) continue;
    const char* kind = result == wrong ? "wrong_" : "imported_";
    std::ofstream(fs::path(arguments.keep) / (kind + std::to_string(seed) + ".onnx"), std::ios::binary) << bytes;
  }
  std::printf("%llu refused, %llu imported, %llu wrong\n", static_cast<unsigned long long>(seen[refused]),
              static_cast<unsigned long long>(seen[imported]), static_cast<unsigned long long>(seen[wrong]));
  return seen[wrong] == 0 && seen[imported] > 0 ? 0 : 1;
}

}  // namespace

}  // namespace rml::fuzz

int main(int argc, char** argv) {
  rml::fuzz::Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (rml::fuzz::take_seeds(arguments, argc, argv, k)) continue;
    if (option == "--keep" && k + 1 < argc)
      arguments.keep = argv[++k];
    else if (arguments.folder.empty() && !option.starts_with("--"))
      arguments.folder = option;
    else
      arguments.folder.clear(), k = argc;
  }
  if (arguments.folder.empty()) {
    std::fprintf(stderr, "usage: model_mutants FOLDER [--from SEED] [--count N] [--keep FOLDER]\n");
    return 2;
  }
  return rml::fuzz::run(arguments);
}
