// Imports: search order of files, loading each file once, cycles, and missing files.
#include <gtest/gtest.h>

#include <filesystem>

#include "frontend/parse.h"
#include "tests/unit/temporary_folder.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

class Import : public testing::Test {
 protected:
  void SetUp() override { options_.stdlib_dir = RML_STDLIB_DIR; }

  void write(const std::string& name, const std::string& text) { temporary_.write(name, text); }
  void parse(const std::string& name) { program_ = parse_program(folder_ / name, options_, sources_, diagnostics_); }
  std::vector<std::string> codes() const {
    std::vector<std::string> result;
    for (const Diagnostic& d : diagnostics_.all()) result.emplace_back(code_name(d.code));
    return result;
  }

  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  ParseOptions options_;
  SourceMap sources_;
  Diagnostics diagnostics_;
  Program program_;
};

using Codes = std::vector<std::string>;

TEST_F(Import, names_and_paths) {
  write("main.rml", "import nn;\nimport layers as l;\nimport \"sub/x.rml\";\n");
  write("nn.rml", "node a() -> (o) o = 1;");
  write("lib/layers.rml", "import nn;\nnode b() -> (o) o = 1;");
  write("sub/x.rml", "import \"../nn.rml\";\nnode c() -> (o) o = 1;");
  options_.import_dirs = {folder_ / "lib", folder_};
  parse("main.rml");
  EXPECT_EQ(codes(), Codes{});
  ASSERT_EQ(program_.modules.size(), 5u);
  const std::vector<ast::Import>& imports = program_.modules[0].imports;
  ASSERT_EQ(imports.size(), 3u);
  EXPECT_EQ(program_.text(imports[0].alias), "nn");
  EXPECT_EQ(program_.text(imports[1].alias), "l");
  EXPECT_FALSE(imports[2].alias.valid());
  EXPECT_TRUE(imports[2].is_path);
  EXPECT_EQ(imports[0].module, program_.modules[imports[1].module.index].imports[0].module);
  EXPECT_EQ(imports[0].module, program_.modules[imports[2].module.index].imports[0].module);
}

TEST_F(Import, the_importing_files_folder_comes_first) {
  write("main.rml", "import nn;\n");
  write("nn.rml", "node near() -> (o) o = 1;");
  write("lib/nn.rml", "node far() -> (o) o = 1;");
  options_.import_dirs = {folder_ / "lib"};
  parse("main.rml");
  ASSERT_EQ(codes(), Codes{});
  const ast::Module& nn = program_.modules[program_.modules[0].imports[0].module.index];
  EXPECT_EQ(program_.text(program_[nn.nodes[0]].name), "near");
}

TEST_F(Import, from_folders) {
  write("main.rml", "import ears.filters;\nimport ears.inner.deep as d;\nimport far.away;\n");
  write("ears/filters.rml", "import levels;\nimport ears.inner.deep;\nnode f() -> (o) o = 1;");
  write("ears/levels.rml", "const rate = 1;");
  write("ears/inner/deep.rml", "import far.away;\nnode g() -> (o) o = 1;");
  write("lib/far/away.rml", "const near = false;");
  options_.import_dirs = {folder_ / "lib"};
  parse("main.rml");
  EXPECT_EQ(codes(), Codes{});
  ASSERT_EQ(program_.modules.size(), 6u);
  const std::vector<ast::Import>& imports = program_.modules[0].imports;
  EXPECT_EQ(program_.text(imports[0].alias), "filters");
  EXPECT_EQ(imports[0].target, "ears.filters");
  EXPECT_EQ(program_.text(imports[1].alias), "d");
  const std::vector<ast::Import>& of_filters = program_.modules[imports[0].module.index].imports;
  EXPECT_EQ(of_filters[1].module, imports[1].module);
  EXPECT_EQ(program_.modules[imports[1].module.index].imports[0].module, imports[2].module);
}

// A name without a dot is not searched in folders, and a file of a folder is not searched in
// another folder.
TEST_F(Import, what_is_not_looked_for) {
  write("main.rml", "import ears.filters;\n");
  write("ears/filters.rml", "import levels;\nimport filters.ears;\n");
  write("levels.rml", "const rate = 1;");
  parse("main.rml");
  EXPECT_EQ(codes(), (Codes{"E0802", "E0802"}));
}

TEST_F(Import, cycles_are_shown_link_by_link) {
  write("a.rml", "import b;\n");
  write("b.rml", "import c;\n");
  write("c.rml", "import b;\n");
  parse("a.rml");
  ASSERT_EQ(codes(), Codes{"E0803"});
  const Diagnostic& d = diagnostics_.all()[0];
  EXPECT_EQ(fs::path(sources_.path(d.primary.span.file)).filename(), "c.rml");
  ASSERT_EQ(d.secondary.size(), 1u);
  EXPECT_EQ(fs::path(sources_.path(d.secondary[0].span.file)).filename(), "b.rml");
}

TEST_F(Import, a_file_importing_itself) {
  write("a.rml", "import a;\n");
  parse("a.rml");
  EXPECT_EQ(codes(), Codes{"E0803"});
}

TEST_F(Import, not_found_proposes_what_is_there) {
  write("main.rml", "import layer;\nimport \"layers.rm\";\nimport nothing_like_it;\n");
  write("layers.rml", "");
  parse("main.rml");
  ASSERT_EQ(codes(), (Codes{"E0802", "E0802", "E0802"}));
  EXPECT_EQ(diagnostics_.all()[0].fixes.at(0).replacement, "layers");
  EXPECT_EQ(diagnostics_.all()[1].fixes.at(0).replacement, "\"layers.rml\"");
  EXPECT_TRUE(diagnostics_.all()[2].fixes.empty());
  EXPECT_FALSE(program_.modules[0].imports[0].module.valid());
}

TEST_F(Import, errors_of_imported_files_are_theirs) {
  write("main.rml", "import nn;\nnode f() -> (o) o = ;\n");
  write("nn.rml", "node a( -> (o) o = 1;");
  parse("main.rml");
  EXPECT_EQ(codes(), (Codes{"E0101", "E0101"}));
  EXPECT_EQ(fs::path(sources_.path(diagnostics_.all()[1].primary.span.file)).filename(), "nn.rml");
}

TEST_F(Import, unreadable_files) {
  parse("missing.rml");
  EXPECT_EQ(codes(), Codes{"E0801"});
  EXPECT_EQ(program_.modules.size(), 2u);
  write("main.rml", "import \"sub\";\n");
  fs::create_directories(folder_ / "sub");
  parse("main.rml");
  EXPECT_EQ(codes(), (Codes{"E0801", "E0801"}));
}

TEST_F(Import, a_missing_prelude_is_an_error_and_an_empty_module) {
  write("main.rml", "node f() -> (o) o = 1;");
  options_.stdlib_dir = folder_ / "nowhere";
  parse("main.rml");
  EXPECT_EQ(codes(), Codes{"E0802"});
  ASSERT_EQ(program_.modules.size(), 2u);
  EXPECT_TRUE(program_.modules[1].nodes.empty());
}

TEST_F(Import, the_prelude_itself_may_be_compiled) {
  program_ = parse_program(fs::path(RML_STDLIB_DIR) / "prelude.rml", options_, sources_, diagnostics_);
  EXPECT_EQ(codes(), Codes{});
  ASSERT_EQ(program_.modules.size(), 2u);
  EXPECT_EQ(program_.modules[0].nodes.size(), 6u);
  EXPECT_TRUE(program_.modules[1].nodes.empty());
}

}  // namespace
}  // namespace rml
