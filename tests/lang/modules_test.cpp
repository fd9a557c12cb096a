// Programs of several files, constants and other names for types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lang/print_cases.h"

namespace hiaton {
namespace {

using testing::HasSubstr;

/// A folder of its own for each test.
class Modules : public testing::Test {
 protected:
  Modules()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "parts");
  }
  ~Modules() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::shared_ptr<const Source> program(const std::string& text) const {
    return std::make_shared<const Source>((folder_ / "main.hia").string(), text);
  }
  std::string error_of_program(const std::string& text) const {
    try {
      lang::parse(program(text));
    } catch (const ProgramError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

constexpr std::string_view kMain = "import \"parts/lib.hia\"\nfn main(n: i64) -> i64 = twice(n) + base\n";
constexpr std::string_view kLib = "import \"more.hia\"\nfn twice(n: i64) -> i64 = 2 * n\n";

TEST_F(Modules, AreReadRelativeToTheFileThatImportsThem) {
  write("parts/lib.hia", std::string(kLib));
  write("parts/more.hia", "const base: i64 = 40");
  const ir::Module module = lang::parse(program(std::string(kMain)));
  EXPECT_EQ(ir::print(module),
            "fn main(n: i64) -> i64 = twice(n) + base()\n\nfn twice(n: i64) -> i64 = 2 * n\n\n"
            "fn base() -> i64 = 40\n");
}

TEST_F(Modules, AreReadOnceWhateverTheyAreCalled) {
  const std::string path = write("parts/more.hia", "const base: i64 = 40\n");
  std::filesystem::create_symlink("more.hia", folder_ / "parts" / "link.hia");
  const std::string text = "import \"parts/link.hia\"\nimport \"" + path +
                           "\"\nimport \"parts/more.hia\"\nfn main(n: i64) -> i64 = n + base\n";
  EXPECT_EQ(ir::print(lang::parse(program(text))),
            "fn main(n: i64) -> i64 = n + base()\n\nfn base() -> i64 = 40\n");
}

TEST_F(Modules, AreReadOnceHoweverManyImportThem) {
  write("parts/lib.hia", std::string(kLib));
  write("parts/more.hia", "const base: i64 = 40\n");
  const auto source = lang::with_imports(program("import \"parts/more.hia\"\n" + std::string(kMain)));
  ASSERT_EQ(source->files().size(), 3U);
  EXPECT_EQ(source->files()[1].key, "parts/more.hia");
  EXPECT_EQ(source->files()[2].key, "parts/lib.hia");
}

TEST_F(Modules, TheTextOfAProgramHoldsAllOfItsFiles) {
  const std::string lib = write("parts/lib.hia", std::string(kLib));
  const std::string more = write("parts/more.hia",
                                 "\xEF\xBB\xBF"
                                 "const base: i64 = 40\r\n");
  const auto whole = lang::with_imports(program(std::string(kMain)));
  std::filesystem::remove(lib);
  std::filesystem::remove(more);
  const auto again = std::make_shared<const Source>("elsewhere/saved.hia", std::string(whole->text()));
  EXPECT_TRUE(ir::equal(lang::parse(again), lang::parse(whole)));
  EXPECT_EQ(lang::with_imports(again)->text(), whole->text());
  EXPECT_THROW(lang::parse(program(std::string(kMain))), ProgramError);
}

TEST_F(Modules, MessagesNameTheFileAndItsLine) {
  const std::string lib = write("parts/lib.hia", std::string(kLib) + "fn f(n: i64) -> i64 = m\n");
  write("parts/more.hia", "const base: i64 = true\n");
  const std::string message = error_of_program(std::string(kMain));
  EXPECT_THAT(message, HasSubstr(lib + ":3:23: error: unknown name 'm'"));
  EXPECT_THAT(message, HasSubstr("more.hia:1:19: error: the result of 'base': expected i64, found bool"));
}

TEST_F(Modules, ImportsThatCannotBe) {
  write("circle.hia", "import \"round.hia\"\n");
  write("round.hia", "import \"main.hia\"\n");
  EXPECT_THAT(error_of_program("import \"circle.hia\"\n"),
              HasSubstr("round.hia:1:8: error: this import comes back to where it began: main.hia imports "
                        "circle.hia imports round.hia imports main.hia"));
  EXPECT_THAT(error_of_program("\n import \"none.hia\"\n"), HasSubstr("main.hia:2:9: error: cannot read '"));
  EXPECT_THAT(error_of_program("import \"lib\"\n"),
              HasSubstr("expected a file that ends in '.hia', or one of"));
  EXPECT_THAT(error_of_program("import \"std/none\"\n"),
              HasSubstr("expected a file of the standard library"));
  write("holds.hia", "fn f() -> i64 = 1\n#file \"other.hia\"\n");
  EXPECT_THAT(error_of_program("import \"holds.hia\"\n"),
              HasSubstr("expected a file of its own, found one that holds others: 'other.hia'"));
  EXPECT_THAT(error_of_program("import \"holds.hia\" fn f() -> i64 = 1\n"), HasSubstr("expected"));
}

TEST_F(Modules, FilesThatAreTooLongTogether) {
  write("half.hia", std::string(lang::kMaxProgramBytes / 2, ' '));
  write("other.hia", std::string(lang::kMaxProgramBytes / 2, ' '));
  EXPECT_THAT(error_of_program("import \"half.hia\"\nimport \"other.hia\"\n"),
              HasSubstr("main.hia:2:8: error: expected a program of at most 16 MiB with all of its files"));
}

TEST_F(Modules, AFileEndsWhatStandsInIt) {
  write("cut.hia", "fn f(n: i64) -> i64 = n +");
  write("goes_on.hia", "- 3\nfn g(n: i64) -> i64 = n");
  const std::string message =
      error_of_program("import \"cut.hia\"\nimport \"goes_on.hia\"\nfn main(n: i64) -> i64 = f(n)\n");
  EXPECT_THAT(message, HasSubstr("cut.hia:1:26: error: expected an expression, found the end of the file"));
  EXPECT_THAT(
      message,
      HasSubstr("goes_on.hia:1:1: error: expected a declaration at the beginning of a file, found '-'"));
}

TEST_F(Modules, NamesAreOfTheWholeProgram) {
  write("lib.hia", "\nfn f(n: i64) -> i64 = n\n");
  EXPECT_THAT(
      error_of_program("import \"lib.hia\"\nfn f(n: i64) -> i64 = n\n"),
      HasSubstr("lib.hia:2:4: error: function 'f' is defined twice; the first definition is in line 2 of"));
}

TEST_F(Modules, ANameOfTheLibraryIsReportedInTheProgram) {
  EXPECT_EQ(error_of_program("import \"std/list\"\ndata Option[T] = Absent | Present(value: T)\n"
                             "data Tree = Some(tree: Tree) | Leaf\nfn main(n: i64) -> i64 = n\n"),
            folder_.string() +
                "/main.hia:2:6: error: expected a new name, found 'Option', which is a data type of "
                "\"std/option\", an imported file\n"
                " 2 | data Option[T] = Absent | Present(value: T)\n"
                "   |      ^^^^^^");
  EXPECT_THAT(error_of_program("import \"std/list\"\ndata Tree = Some(tree: Tree) | Leaf\n"),
              HasSubstr("main.hia:2:13: error: expected a new name, found 'Some', which is a variant of "
                        "\"std/option\", an imported file"));
}

TEST_F(Modules, AProgramWithoutMainNamesItsOwnFunctions) {
  const ir::Module module =
      lang::parse(program("import \"std/list\"\nfn count[T](xs: List[T]) -> i64 = length(xs)\n"
                          "fn f(n: i64) -> i64 = count(map(fn(x) -> x + n, range(0, n))) + count([\"a\"]) + "
                          "length(sort([0.5]))\n"));
  try {
    module.function_named("main");
    ADD_FAILURE() << "there is no such function";
  } catch (const ProgramError& error) {
    EXPECT_TRUE(std::string(error.what())
                    .ends_with("main.hia: expected a function 'main' to start at, found only: f, count_i64"))
        << error.what();
  }
}

class ConstantsAndAliases : public testing::TestWithParam<PrintCase> {};

TEST_P(ConstantsAndAliases, PrintAndParseBack) {
  expect_printed(GetParam());
}

const PrintCase kModulesPrograms[] = {
    {"AConstantIsAFunctionWithoutParameters",
     "const half: f32 = 0.5\nconst limits: List[f32] = [half, 2 * half]\nfn f(x: f32) -> f32 = x * half\n",
     "fn half() -> f32 = 0.5f32\n\nfn limits() -> List[f32] = Cons[f32](half(), Cons[f32](2.0f32 * half(), "
     "Nil[f32]))\n\n"
     "fn f(x: f32) -> f32 = x * half()\n"},
    {"AnAliasIsTheTypeItself",
     "size d = 2\ntype Row = f32[d]\ntype Rows = List[Row]\nfn f(xs: Rows) -> Rows = xs\n",
     "fn f(xs: List[f32[2]]) -> List[f32[2]] = xs\n"},
    {"AnAliasWithTypes",
     "data Two[A, B] = Two(a: A, b: B)\ntype Table[V] = List[Two[i64, V]]\n"
     "fn first[V](t: Table[V], other: V) -> V =\n  match t\n    [] -> other\n    [Two(_, v), .._] -> v\n"
     "fn f(t: Table[bool]) -> bool = first(t, false)\n",
     "data Two[A, B] = Two(a: A, b: B)\ntype Table[V] = List[Two[i64, V]]\n"
     "\n"
     "fn f(t: List[Two[i64, bool]]) -> bool = first_bool(t, false)\n"
     "\n"
     "fn first_bool(t: List[Two[i64, bool]], other: bool) -> bool = if variant(t) == 0 then other else "
     "field(field(t, variant=1, field=0), variant=0, field=1)\n"},
};

INSTANTIATE_TEST_SUITE_P(Lang, ConstantsAndAliases, testing::ValuesIn(kModulesPrograms),
                         [](const auto& test) { return test.param.name; });

TEST(ConstantAndAliasErrors, Findings) {
  EXPECT_THAT(error_of("const a: i64 = f(b)\nconst b: i64 = a\nfn f(n: i64) -> i64 = n\n"),
              HasSubstr("test.hia:2:7: error: this constant is computed from itself"));
  EXPECT_THAT(error_of("const a = 3\n"), HasSubstr("expected ':' and the type of the constant, found '='"));
  EXPECT_THAT(error_of("const a: i64 = 3\nfn f(n: i64) -> i64 = a(n)\n"),
              HasSubstr("expected a function, found 'a', which is a constant"));
  EXPECT_THAT(error_of("const a: i64 = 3\nconst a: i64 = 3\n"), HasSubstr("constant 'a' is defined twice"));
  EXPECT_THAT(error_of("size a = 3\nconst a: i64 = 3\n"),
              HasSubstr("expected a new name for a constant, found 'a', which is a size"));
  EXPECT_THAT(error_of("const a: i64 = 0.5\n"), HasSubstr("the result of 'a': expected i64, found f64"));
  EXPECT_THAT(error_of("type T = List[T]\nfn f(n: T) -> i64 = 1\n"),
              HasSubstr("'T' stands for a type that is made of itself; 'data' declares one"));
  EXPECT_THAT(error_of("type P[A] = List[A]\nfn f(n: P) -> i64 = 1\n"),
              HasSubstr("'P' takes 1 type in brackets, found 0"));
  EXPECT_THAT(error_of("type R = f32[n]\n"), HasSubstr("expected a dimension that is known before the run"));
  EXPECT_THAT(error_of("data T = A\ntype T = i64\n"), HasSubstr("'T' is defined twice"));
  EXPECT_THAT(error_of("type T = Lost\nfn f(n: T) -> i64 = 1\n"), HasSubstr("found 'Lost'"));
}

}  // namespace
}  // namespace hiaton
