// Any file is either columns of examples or a ProgramError, read as an array of NumPy and as safetensors.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hiaton/error.h"
#include "hiaton/examples.h"

namespace {

using hiaton::DType;

std::filesystem::path scratch_folder() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("hiaton_fuzz_columns_" + std::to_string(getpid()));
  std::filesystem::create_directories(path);
  return path;
}

void read(const std::filesystem::path& path, const hiaton::train::ExampleForm& form) {
  try {
    for (const hiaton::train::Example& example : hiaton::train::read_columns(path, form)) {
      for (std::size_t i = 0; i < example.arguments.size(); ++i) {
        if (!fits(example.arguments[i], form.parameters[i].type)) std::abort();
      }
      hiaton::train::to_string(example.arguments, form.parameters);
    }
  } catch (const hiaton::ProgramError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, std::size_t size) {
  using hiaton::tensor_type;
  static const std::filesystem::path folder = scratch_folder();
  const std::filesystem::path npy = folder / "x.npy";
  const std::filesystem::path safetensors = folder / "x.safetensors";
  for (const std::filesystem::path& path : {npy, safetensors}) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  }
  for (const DType dtype : {DType::Bool, DType::U8, DType::I32, DType::F64})
    read(npy, {{{"x", hiaton::Type(dtype, {hiaton::unknown_dim()})}}, 1});
  read(npy, {{{"x", DType::F32}}, 1});
  read(safetensors, {{{"x", tensor_type(DType::F32, {2})}, {"y", DType::I64}}, 2});
  return 0;
}
