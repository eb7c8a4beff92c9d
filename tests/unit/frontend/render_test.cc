// Diagnostics as rendered for people and for programs.
#include "frontend/render.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rml {
namespace {

struct Sample {
  SourceMap sources;
  Diagnostics diagnostics;
  std::uint32_t file;

  explicit Sample(const std::string& text) : file(sources.add("dir/a b.rml", text)) {}
  Span at(const std::string& piece) const {
    const auto begin = static_cast<std::uint32_t>(sources.text(file).find(piece));
    return {file, begin, begin + static_cast<std::uint32_t>(piece.size())};
  }
};

Sample clocks() {
  Sample s("node f(k, do)\n  di = k * do;\n\n\n  x = 1;\n");
  s.diagnostics.report(Code::E0401, s.at("k * do"), "clocks do not match", "one clock is needed")
      .label(s.at("k *").file == 0 ? Span{} : Span{s.file, s.at("k *").begin, s.at("k *").begin + 1}, "always")
      .label(s.at("do;"), "only when bp")
      .label(s.at("x = 1;"), "elsewhere")
      .note("first line\nsecond line")
      .fix({s.file, s.at("k *").begin, s.at("k *").begin + 1}, "(k when bp)", "write `k when bp`", true);
  return s;
}

TEST(Render, human) {
  const Sample s = clocks();
  EXPECT_EQ(render_human(s.diagnostics, s.sources, false),
            "error[E0401]: clocks do not match\n"
            " --> dir/a b.rml:2:8\n"
            "  |\n"
            "2 |   di = k * do;\n"
            "  |        ^^^^^^-\n"
            "  |        |   only when bp\n"
            "  |        one clock is needed\n"
            "  |        always\n"
            "...\n"
            "5 |   x = 1;\n"
            "  |   ------ elsewhere\n"
            "  = note: first line\n"
            "          second line\n"
            "  = help: write `k when bp`\n"
            "  |\n"
            "2 |   di = (k when bp) * do;\n"
            "  |        +++++++++++\n"
            "\n");
}

TEST(Render, color_only_adds_escapes) {
  const Sample s = clocks();
  std::string colored = render_human(s.diagnostics, s.sources, true);
  EXPECT_NE(colored.find("\033[1;31m"), std::string::npos);
  for (std::size_t at = colored.find('\033'); at != std::string::npos; at = colored.find('\033')) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  EXPECT_EQ(colored, render_human(s.diagnostics, s.sources, false));
}

TEST(Render, a_diagnostic_without_a_place) {
  Sample s("");
  s.diagnostics.report(Code::E0901, {}, "no node `main`");
  EXPECT_EQ(render_human(s.diagnostics, s.sources, false), "error[E0901]: no node `main`\n\n");
}

TEST(Render, long_lines_are_clipped_round_the_mark) {
  Sample s(std::string(100000, 'a') + " ! " + std::string(100000, 'b'));
  s.diagnostics.report(Code::E0101, s.at("!"), "message", "label");
  const std::string text = render_human(s.diagnostics, s.sources, false);
  EXPECT_LT(text.size(), 1000u);
  EXPECT_NE(text.find(" ! "), std::string::npos);
  EXPECT_NE(text.find("^ label"), std::string::npos);
}

TEST(Render, odd_characters_do_not_reach_the_terminal) {
  Sample s("\tx = \x1b[31m\xff é !;");
  s.diagnostics.report(Code::E0102, s.at("!"), "message");
  const std::string text = render_human(s.diagnostics, s.sources, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("1 |     x = \\u{1b}[31m\\xff é !;\n  |                          ^\n"), std::string::npos)
      << text;
}

TEST(Render, a_span_over_several_lines_marks_its_first) {
  Sample s("x = a\n  + b;\n");
  s.diagnostics.report(Code::E0301, {s.file, 4, 11}, "message", "label");
  EXPECT_NE(render_human(s.diagnostics, s.sources, false).find("1 | x = a\n  |     ^ label\n"), std::string::npos);
}

TEST(Render, json) {
  const Sample s = clocks();
  const auto j = nlohmann::json::parse(render_json(s.diagnostics, s.sources));
  const auto& d = j.at("diagnostics").at(0);
  EXPECT_EQ(d.at("code"), "E0401");
  EXPECT_EQ(d.at("severity"), "error");
  EXPECT_EQ(d.at("primary").at("line"), 2);
  EXPECT_EQ(d.at("primary").at("column"), 8);
  EXPECT_EQ(d.at("primary").at("end_column"), 14);
  EXPECT_EQ(d.at("secondary").size(), 3u);
  EXPECT_EQ(d.at("fixes").at(0).at("replacement"), "(k when bp)");
  EXPECT_EQ(d.at("fixes").at(0).at("certain"), true);
}

TEST(Render, sarif) {
  const Sample s = clocks();
  const auto j = nlohmann::json::parse(render_sarif(s.diagnostics, s.sources));
  EXPECT_EQ(j.at("version"), "2.1.0");
  const auto& run = j.at("runs").at(0);
  const auto& result = run.at("results").at(0);
  EXPECT_EQ(result.at("ruleId"), "E0401");
  EXPECT_EQ(run.at("tool").at("driver").at("rules").at(result.at("ruleIndex").get<std::size_t>()).at("id"), "E0401");
  const auto& place = result.at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "dir/a%20b.rml");
  EXPECT_EQ(place.at("region").at("startLine"), 2);
  EXPECT_EQ(result.at("fixes").size(), 1u);
}

TEST(Render, of_very_many_mistakes_the_first_are_shown) {
  Sample s("x = 1;");
  for (int k = 0; k < 10'000; ++k) {
    s.diagnostics.report(Code::E0201, s.at("x"), "error " + std::to_string(k));
    s.diagnostics.report(Code::W0201, s.at("1"), "warning " + std::to_string(k));
  }
  const std::string text = render_human(s.diagnostics, s.sources, false);
  EXPECT_LT(text.size(), 100'000u);
  EXPECT_NE(text.find("error 199\n"), std::string::npos);
  EXPECT_EQ(text.find("error 200\n"), std::string::npos);
  EXPECT_NE(text.find("9800 more errors are not shown"), std::string::npos);
  EXPECT_NE(text.find("9800 more warnings are not shown"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(render_json(s.diagnostics, s.sources)).at("diagnostics").size(), 402u);
  const auto sarif = nlohmann::json::parse(render_sarif(s.diagnostics, s.sources));
  EXPECT_EQ(sarif.at("runs").at(0).at("results").size(), 402u);
}

TEST(Render, machine_formats_survive_ill_formed_text) {
  Sample s("\xff");
  s.diagnostics.report(Code::E0102, {s.file, 0, 1}, "bad \xff");
  EXPECT_TRUE(nlohmann::json::accept(render_json(s.diagnostics, s.sources)));
  EXPECT_TRUE(nlohmann::json::accept(render_sarif(s.diagnostics, s.sources)));
}

}  // namespace
}  // namespace rml
