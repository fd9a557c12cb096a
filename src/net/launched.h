// Whether a launcher has started this process, as one of several.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/link.h"

namespace hiaton::net {

enum class Mpi : uint8_t { OpenMpi, Mpich };

/// "Open MPI", "MPICH".
std::string_view name_of(Mpi mpi);

struct Launched {
  Mpi mpi;
  int processes;         ///< according to the launcher
  const char* variable;  ///< of the environment, which says so
};

/// Reads a variable of the environment; null where it is not set.
using Environment = std::function<const char*(const char* name)>;

/// What the variables of mpirun, mpiexec or srun say; nothing where none of them has started this process, or
/// has started it alone.
std::optional<Launched> find_launched(const Environment& environment);
/// The same of this process.
std::optional<Launched> find_launched();

/// Whether the plug-in for this MPI is installed.
bool has_plugin(Mpi mpi);
/// Loads the plug-in and joins the processes that the launcher has started. Once in a process. Throws
/// ProgramError where the plug-in is missing or does not fit, and where it finds another number of processes
/// than the launcher says: then the launcher belongs to another MPI.
std::unique_ptr<Link> open_mpi_link(const Launched& launched);

}  // namespace hiaton::net
