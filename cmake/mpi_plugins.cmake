# The plug-ins that join processes by MPI: one source, once for each MPI that is installed with its headers. Nothing else
# links MPI. They stand beside the command, where it looks for them.
find_package(PkgConfig)
set(hiaton_mpi_plugins "")

# hiaton_mpi_plugin(NAME MODULE LIBRARY): NAME is hiaton_NAME.so; MODULE is that of pkg-config.
function(hiaton_mpi_plugin name module library)
  if(NOT PKG_CONFIG_FOUND)
    return()
  endif()
  pkg_check_modules(${name} QUIET ${module})
  if(NOT ${name}_FOUND)
    message(STATUS "No ${module}: built without the plug-in hiaton_${name}.so")
    return()
  endif()
  find_library(${name}_FILE ${library} HINTS ${${name}_LIBRARY_DIRS} REQUIRED)
  add_library(hiaton_${name} MODULE ${PROJECT_SOURCE_DIR}/src/net_mpi/mpi_link.cpp)
  set_target_properties(hiaton_${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
  target_include_directories(hiaton_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(hiaton_${name} SYSTEM PRIVATE ${${name}_INCLUDE_DIRS})
  target_compile_definitions(hiaton_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX HIATON_VERSION="${PROJECT_VERSION}")
  target_link_libraries(hiaton_${name} PRIVATE ${${name}_FILE} Threads::Threads)
  add_dependencies(hiaton hiaton_${name})
  set(hiaton_mpi_plugins ${hiaton_mpi_plugins} hiaton_${name} PARENT_SCOPE)
endfunction()

hiaton_mpi_plugin(openmpi ompi-c mpi)
hiaton_mpi_plugin(mpich mpich mpich)
