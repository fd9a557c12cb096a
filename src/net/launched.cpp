#include "net/launched.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "hiaton/error.h"

namespace hiaton::net {
namespace {

namespace fs = std::filesystem;

/// A number above 1.
std::optional<int> several(const char* text) {
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc() || rest != end || number < 2) return std::nullopt;
  return number;
}

std::string file_of(Mpi mpi) {
  return mpi == Mpi::OpenMpi ? "hiaton_openmpi.so" : "hiaton_mpich.so";
}

/// The directory of the program or library that this code stands in.
fs::path own_directory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_directory), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code error;
  const fs::path itself = fs::canonical("/proc/self/exe", error);
  const fs::path module = info.dli_fname;
  // A program may have been found by PATH: its own name is no path then.
  return (module.has_parent_path() && fs::exists(module, error) ? fs::canonical(module, error) : itself)
      .parent_path();
}

/// Beside the program in a build, below the library directory where it is installed.
std::vector<fs::path> places_of(Mpi mpi) {
  const fs::path directory = own_directory();
  return {directory / file_of(mpi), directory / "hiaton" / file_of(mpi),
          directory / ".." / HIATON_LIBRARY_DIRECTORY / "hiaton" / file_of(mpi)};
}

std::optional<fs::path> find_plugin(Mpi mpi) {
  for (const fs::path& place : places_of(mpi)) {
    std::error_code error;
    if (fs::exists(place, error)) return place;
  }
  return std::nullopt;
}

const LinkPlugin& load_plugin(Mpi mpi) {
  const std::optional<fs::path> file = find_plugin(mpi);
  if (!file) {
    throw ProgramError(
        fmt::format("{} has started this process, but {} is not installed (package hiaton-mpi)", name_of(mpi),
                    file_of(mpi)));
  }
  // The components that Open MPI loads itself find its symbols only where they are global.
  void* handle = dlopen(file->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) throw ProgramError(fmt::format("cannot load '{}': {}", file->string(), dlerror()));
  const auto* plugin = static_cast<const LinkPlugin*>(dlsym(handle, kLinkPluginName));
  if (plugin == nullptr)
    throw ProgramError(fmt::format("'{}': expected a plug-in of hiaton, found none", file->string()));
  if (plugin->version != std::string_view(HIATON_VERSION)) {
    throw ProgramError(fmt::format("'{}': expected the plug-in of hiaton {}, found that of {}",
                                   file->string(), HIATON_VERSION, plugin->version));
  }
  return *plugin;
}

}  // namespace

std::string_view name_of(Mpi mpi) {
  return mpi == Mpi::OpenMpi ? "Open MPI" : "MPICH";
}

std::optional<Launched> find_launched(const Environment& environment) {
  // srun --mpi=pmix gives the variables of PMIx, which Open MPI understands, and the number in its own.
  const auto said_by = [&environment](Mpi mpi, const char* variable) -> std::optional<Launched> {
    const std::optional<int> processes = several(environment(variable));
    return processes ? std::optional(Launched{mpi, *processes, variable}) : std::nullopt;
  };
  if (const auto launched = said_by(Mpi::OpenMpi, "OMPI_COMM_WORLD_SIZE")) return launched;
  if (const auto launched = said_by(Mpi::Mpich, "PMI_SIZE")) return launched;
  if (environment("PMIX_RANK") == nullptr) return std::nullopt;
  return said_by(Mpi::OpenMpi, "SLURM_STEP_NUM_TASKS");
}

std::optional<Launched> find_launched() {
  return find_launched([](const char* name) -> const char* { return std::getenv(name); });
}

bool has_plugin(Mpi mpi) {
  return find_plugin(mpi).has_value();
}

std::unique_ptr<Link> open_mpi_link(const Launched& launched) {
  std::unique_ptr<Link> link;
  try {
    link.reset(load_plugin(launched.mpi).open());
  } catch (const LinkError& error) {
    throw ProgramError(fmt::format("cannot join the other processes: {}", error.what()));
  }
  if (link->size() != launched.processes) {
    throw ProgramError(fmt::format(
        "expected {} processes, as the launcher says in {}, found {}: it belongs to another MPI "
        "than {}, or has started only a program around this one; then unset {}",
        launched.processes, launched.variable, link->size(), name_of(launched.mpi), launched.variable));
  }
  return link;
}

}  // namespace hiaton::net
