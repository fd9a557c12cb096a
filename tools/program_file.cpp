#include "program_file.h"

#include "hiaton/lang.h"

namespace hiaton::cli {

std::shared_ptr<const Source> read_program_named(const std::string& file) {
  if (file != kStandardInput) return read_program(file);
  const std::shared_ptr<const Source> input = read_source("/dev/stdin", lang::kMaxProgramBytes);
  return lang::with_imports(std::make_shared<const Source>("<stdin>", std::string(input->text())));
}

Program load_program_named(const std::string& file, const CompileOptions& options) {
  if (file != kStandardInput) return Program::from_file(file, options);
  const std::shared_ptr<const Source> source = read_program_named(file);
  return Program::from_module(lang::parse(source, {options.sizes}), options);
}

}  // namespace hiaton::cli
