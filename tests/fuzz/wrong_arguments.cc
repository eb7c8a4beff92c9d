// Applies operators to wrong arguments: random dtypes, shapes, axes and attributes.
//
//   wrong_arguments [--from SEED] [--count N] [--print SEED]
//
// Each program applies an operator inside a node that `main` calls. If it is refused, the
// diagnostic must have a place in the program, describe the operands, and name the call. If it is
// accepted, it must pass the compiler up to its loops. Neither may exceed limits of time and
// memory. An exception is a failure, and so is a crash, after which the seed is printed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "driver/base/installation.h"
#include "frontend/render.h"
#include "fuzz/generate_program.h"
#include "fuzz/guard.h"
#include "semantics/operators/operator.h"

namespace rml::fuzz {

namespace {

// The text of a program, and the shapes that a message about shapes must mention.
struct WrongProgram {
  std::string source;
  std::string_view op;
  std::vector<std::string> shapes;  // shapes of the operands
};

class Wrong {
 public:
  explicit Wrong(std::uint64_t seed) : random_(seed) {}

  WrongProgram run() {
    const OperatorTable& table = operators();
    const OperatorInfo& row = table[static_cast<OperatorId>(random_() % table.size())];
    const int variadic = 1 + pick(3);
    like_ = shape();
    std::string arguments;
    bool named = false;
    for (const OperatorParameter& p : row.parameters) {
      const int count = p.variadic ? variadic : 1;
      for (int k = 0; k < count; ++k) {
        if (chance(3)) continue;
        if (p.kind == ParameterKind::operand) {
          list(arguments, operand(p));
          continue;
        }
        if (!p.default_value.empty() && chance(40)) {
          named = true;
          continue;
        }
        list(arguments, (named ? std::string(p.name) + "=" : "") + attribute(p));
      }
      named = named || p.variadic;
    }
    if (chance(3)) list(arguments, chance(50) ? "bogus=1" : value());
    out_.op = row.name;
    out_.source = "node inner(" + names_ + ") -> (y)\n  y = " + std::string(row.name) + "(" + arguments +
                  ");\n\nnode main(" + inputs_ + ") -> (r)\n  r = inner(" + names_ + ");\n";
    return std::move(out_);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  static void list(std::string& to, const std::string& item) { to += (to.empty() ? "" : ", ") + item; }

  Shape shape() {
    static const std::vector<Shape> usual{{}, {3}, {2, 3}, {3, 3}, {1, 2, 4}, {2, 2, 4, 4}, {0}, {2, 0, 3}};
    if (chance(60)) return usual[static_cast<std::size_t>(pick(static_cast<int>(usual.size())))];
    if (chance(4)) return chance(50) ? Shape{65536, 65536} : Shape{2000000000};
    Shape s(static_cast<std::size_t>(pick(chance(10) ? 9 : 5)));
    for (auto& extent : s) extent = chance(10) ? 0 : 1 + pick(5);
    return s;
  }

  std::string operand(const OperatorParameter& p) {
    if (chance(2)) return value();
    std::vector<DType> right;
    for (int d = 0; d < dtype_count; ++d)
      if ((p.dtype.allowed & bit(static_cast<DType>(d))) != 0) right.push_back(static_cast<DType>(d));
    const bool preferred = (p.dtype.allowed & bit(DType::f64)) != 0 && chance(70);
    DType dtype = preferred ? DType::f64 : right[static_cast<std::size_t>(pick(static_cast<int>(right.size())))];
    if (chance(6)) dtype = static_cast<DType>(pick(dtype_count));
    const Shape s = chance(50) ? like_ : shape();
    const std::string name = "x" + std::to_string(count_++);
    list(inputs_, name + ": " + type_text(dtype, s));
    list(names_, name);
    out_.shapes.push_back(to_string(s));
    return name;
  }

  std::string integer() {
    static const std::vector<std::string> usual{"0", "1", "2", "3", "-1", "-2", "5", "-7", "100"};
    static const std::vector<std::string> large{
        "2147483647", "-2147483648", "4294967296", "1073741824", "4611686018427387904", "9223372036854775807", "65536"};
    const auto& from = chance(85) ? usual : large;
    return from[static_cast<std::size_t>(pick(static_cast<int>(from.size())))];
  }

  std::string integers() {
    std::string text;
    for (int k = pick(5); k > 0; --k) list(text, integer());
    return "[" + text + "]";
  }

  // A value of any kind.
  std::string value() {
    static const std::vector<std::string> all{"1.5",  "true",    "\"text\"", "[[1, 2], [3, 4]]", "[]",      "f32",
                                              "-1.0", "0.0/0.0", "1.0/0.0",  "[1.5, 2.5]",       "iota(3)", "i8"};
    if (chance(15) && !names_.empty()) return "x0";
    if (chance(10) && !names_.empty()) return "shape(x0)";
    return all[static_cast<std::size_t>(pick(static_cast<int>(all.size())))];
  }

  std::string attribute(const OperatorParameter& p) {
    if (chance(6)) return value();
    switch (p.kind) {
      case ParameterKind::dtype: {
        static const std::vector<std::string> names{"f32", "f64", "i32", "u8", "bool", "f16", "i64"};
        return names[static_cast<std::size_t>(pick(static_cast<int>(names.size())))];
      }
      case ParameterKind::number: {
        static const std::vector<std::string> numbers{"0.0", "1.0", "0.5", "-2.0", "1.0e300", "1.0e-300", "3"};
        return numbers[static_cast<std::size_t>(pick(static_cast<int>(numbers.size())))];
      }
      case ParameterKind::text: {
        static const std::vector<std::string> texts{"\"\"",      "\"ij,jk->ik\"", "\"...i\"", "\"i->ii\"",
                                                    "\"edge\"",  "\"reflect\"",   "\"add\"",  "\"cubic\"",
                                                    "\"ij->j\"", "\"nonsense\""};
        return texts[static_cast<std::size_t>(pick(static_cast<int>(texts.size())))];
      }
      default:
        if ((p.name == "shape" || p.name == "sizes") && chance(40)) return to_string(like_);
        return chance(50) ? integer() : integers();
    }
  }

  std::mt19937_64 random_;
  WrongProgram out_;
  Shape like_;
  std::string inputs_, names_;
  int count_ = 0;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Checks a diagnostic about shapes: its place, the description of the operands, and the call.
// Returns the first part that is missing or wrong; empty if there is none.
std::string complaint(const WrongProgram& p, const Diagnostic& d, const std::string& told) {
  if (d.message.empty()) return "no message";
  if (d.primary.span.begin >= d.primary.span.end) return "no place";
  if (!contains(told, "generated.rml:")) return "no file";
  if (d.code != Code::E0303) return "";
  if (!contains(told, "in the instance `inner`")) return "no word of the instantiation";
  if (p.shapes.size() <= 6 && !contains(d.message, "is declared"))
    for (const std::string& shape : p.shapes)
      if (!contains(told, shape == "[]" ? "f" : shape) && !contains(told, "scalar"))
        return "no word of the shape " + shape;
  return "";
}

enum Result : std::uint8_t { accepted, refused };

Result check(const WrongProgram& p, std::string& wrong) {
  Session session(own_resources());
  const Front front = check_text(session, "generated.rml", p.source);
  if (!session.failed()) {
    const auto entry = find_entry(session, front);
    const auto elaborated = entry ? elaborate(session, front, *entry, {}, session.diagnostics) : std::nullopt;
    if (elaborated && !session.failed()) {
      if (const auto arranged = arrange(session, *elaborated, session.diagnostics)) lower(session, *arranged);
    }
  }
  if (!session.failed()) return accepted;
  for (const Diagnostic& d : session.diagnostics.all()) {
    if (severity(d.code) == Severity::error && wrong.empty())
      wrong = complaint(p, d, render_human(session.diagnostics, session.sources, false));
  }
  if (!wrong.empty()) wrong += "\n" + render_human(session.diagnostics, session.sources, false);
  return refused;
}

int run(std::uint64_t from, std::uint64_t count) {
  guard_process();
  std::map<std::string_view, std::uint64_t> seen[2];
  std::uint64_t bad = 0;
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    begin_seed(seed);
    const WrongProgram p = Wrong(seed).run();
    std::string wrong;
    try {
      ++seen[check(p, wrong)][p.op];
    } catch (const std::exception& e) {
      wrong = std::string("internal error: ") + e.what();
    }
    if (wrong.empty()) continue;
    ++bad;
    std::fprintf(stderr, "seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed), wrong.c_str(), p.source.c_str());
  }
  const auto tell = [&](Result r, const char* what) {
    std::uint64_t total = 0;
    for (const auto& [op, n] : seen[r]) total += n;
    std::printf("%llu %s, of %zu operators\n", static_cast<unsigned long long>(total), what, seen[r].size());
  };
  tell(accepted, "accepted");
  tell(refused, "refused");
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(count - bad),
              static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}

}  // namespace

}  // namespace rml::fuzz

int main(int argc, char** argv) {
  std::uint64_t from = 1, count = 2000, print = 0;
  bool printing = false;
  const std::pair<const char*, std::uint64_t*> options[] = {
      {"--from", &from}, {"--count", &count}, {"--print", &print}};
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto* option = std::ranges::find_if(options, [&](auto& o) { return std::strcmp(argv[i], o.first) == 0; });
    if (option == std::end(options)) return 2;
    printing |= option->second == &print;
    *option->second = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (!printing) return rml::fuzz::run(from, count);
  std::fputs(rml::fuzz::Wrong(print).run().source.c_str(), stdout);
  return 0;
}
