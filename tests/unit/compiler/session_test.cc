// Sessions are independent: sessions in two threads compile and run at the same time, each with
// its own settings.
//
// Under ThreadSanitizer (preset tsan), all code of rmlc is instrumented from the front end to the
// engines, and compiled code if it is a network. LLVM, ANTLR's runtime and libffi are not
// instrumented, so only their locks are seen.
#include "compiler/session.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "compiler/engines.h"
#include "compiler/pipeline.h"
#include "runtime/run/program_state.h"

namespace rml {
namespace {

const Resources resources{RML_STDLIB};

std::unique_ptr<LoadedProgram> loaded(Session& session, const std::string& text) {
  const Front front = check_text(session, "test.rml", text);
  const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
  const auto elaborated = entry ? elaborate(session, front, *entry, {}, session.diagnostics) : std::nullopt;
  const auto arranged = elaborated ? arrange(session, *elaborated, session.diagnostics) : std::nullopt;
  return arranged ? load_compiled(session, lower(session, *arranged), {}) : nullptr;
}

// Returns the outputs of a program with one input and one output, both f64.
std::vector<double> run(const LoadedProgram& loaded, const std::vector<double>& inputs) {
  const rml_program& program = loaded.table();
  rt::ProgramState state(program, 0, 0);
  const std::uint8_t here = 1;
  std::vector<double> outputs;
  const auto take = [&] {
    double value = 0;
    std::uint8_t present = 0;
    for (void* out = &value; program.pop(state.block(), &out, &present) == 1;) outputs.push_back(value);
  };
  for (const double& x : inputs) {
    const void* in = &x;
    EXPECT_EQ(program.push(state.block(), &in, &here), RML_OK);
    take();
  }
  EXPECT_EQ(program.finish(state.block()), RML_OK);
  take();
  return outputs;
}

// Runs the functions at the same time, several times, so that they overlap in every phase.
void at_once(const std::vector<std::function<void()>>& works) {
  constexpr int rounds = 4;
  std::vector<std::thread> threads;
  for (const auto& work : works)
    threads.emplace_back([&work] {
      for (int round = 0; round < rounds; ++round) work();
    });
  for (std::thread& thread : threads) thread.join();
}

// y is the sum of x so far, scaled by a constant of the session.
void sums() {
  Session session(resources);
  session.options.definitions = {"k=3.0"};
  const auto program =
      loaded(session, "const k = 1.0;\nnode main(x: f64) -> (y: f64)\n  s = 0.0 fby y;\n  y = s + k * x;\n");
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(run(*program, {1, 2, 4}), (std::vector<double>{3, 9, 21}));
}

// A program that looks ahead to the end of a segment.
void sums_of_batches() {
  Session session(resources);
  session.options.target.optimization = 0;
  const auto program = loaded(session,
                              "node main(x: f64) -> (y: f64)\n"
                              "  end = x < 0.0;\n"
                              "  sum = fby_end(end, 0.0, sum) + x;\n"
                              "  y = backfill(sum, end);\n");
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(run(*program, {1, 2, -1, 5, -2}), (std::vector<double>{2, 2, 2, 3, 3}));
}

// The first thread that needs the rules of derivatives reads them.
void gradients() {
  Session session(resources);
  const auto program = loaded(session,
                              "node f(x: f64) -> (y: f64)\n  y = x * x;\n"
                              "node main(x: f64) -> (dx: f64)\n  _, dx = diff f(x, true, 1.0);\n");
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(run(*program, {1, 2, -3}), (std::vector<double>{2, 4, -6}));
}

void refused() {
  Session session(resources);
  EXPECT_EQ(loaded(session, "node main(x: f64) -> (y: f64)\n  y = z;\n"), nullptr);
  ASSERT_EQ(session.diagnostics.all().size(), 1u);
  EXPECT_EQ(session.diagnostics.all()[0].code, Code::E0201);
}

TEST(Session, CompilesAndRunsBesideOthers) { at_once({sums, sums_of_batches}); }
TEST(Session, DifferentiatesBesideOthers) { at_once({gradients, gradients, refused}); }

extern "C" void rml_test_twice(double x, double* y) { *y = 2 * x; }
extern "C" void rml_test_thrice(double x, double* y) { *y = 3 * x; }

constexpr const char* foreign = "node scale(x: f64) -> (y: f64)\nnode main(x: f64) -> (y: f64)\n  y = scale(x);\n";

// The same name is a different function in each session, in both engines.
TEST(Session, FindsExternalNodesWhereItIsTold) {
  const auto scaled = [](void (*scale)(double, double*), std::vector<double> expected) {
    return [scale, expected] {
      Session session(resources);
      session.foreign = [scale](const std::string& name) {
        return name == "scale" ? reinterpret_cast<void*>(scale) : nullptr;
      };
      const auto program = loaded(session, foreign);
      ASSERT_NE(program, nullptr);
      EXPECT_EQ(run(*program, {1, 5}), expected);
      const Front front = check_text(session, "test.rml", foreign);
      const auto elaborated = elaborate(session, front, *find_entry(session, front), {}, session.diagnostics);
      ASSERT_TRUE(elaborated);
      const auto interpreted = load_reference(session, elaborated->core, {});
      ASSERT_NE(interpreted, nullptr);
      EXPECT_EQ(run(*interpreted, {1, 5}), expected);
    };
  };
  at_once({scaled(rml_test_twice, {2, 10}), scaled(rml_test_thrice, {3, 15})});
}

// `scale` is an exported symbol of this process. The compiler must not use it.
extern "C" __attribute__((visibility("default"), used)) void scale(double x, double* y) { *y = x; }

TEST(Session, LooksForNothingInTheProcess) {
  Session session(resources);
  EXPECT_EQ(loaded(session, foreign), nullptr);
  ASSERT_EQ(session.diagnostics.all().size(), 1u);
  EXPECT_EQ(session.diagnostics.all()[0].code, Code::E0805);
}

// A given function is called whatever its name. A function that is not given is not searched in
// the C library.
TEST(Session, TakesNoFunctionOfTheCLibrary) {
  constexpr const char* text = "node floor(x: f64) -> (y: f64)\nnode main(x: f64) -> (y: f64)\n  y = floor(x);\n";
  Session given(resources);
  given.foreign = [](const std::string&) { return reinterpret_cast<void*>(rml_test_twice); };
  const auto program = loaded(given, text);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(run(*program, {1, 5}), (std::vector<double>{2, 10}));
  Session session(resources);
  EXPECT_EQ(loaded(session, text), nullptr);
  ASSERT_TRUE(session.failed());
}

TEST(Session, ReadsTheLibraryItIsGiven) {
  Session session(Resources{"/nowhere"});
  EXPECT_EQ(loaded(session, "node main(x: f64) -> (y: f64)\n  y = x;\n"), nullptr);
  EXPECT_TRUE(session.failed());
}

}  // namespace
}  // namespace rml
