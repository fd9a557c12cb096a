# What `cmake --install` and `cpack` give to others: the command, a shared library that exports what include/hiaton
# declares and nothing else, the headers, what CMake and pkg-config need to find them, the models and the docs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(hiaton_shared SHARED)
add_library(hiaton::hiaton ALIAS hiaton_shared)
foreach(layer IN LISTS hiaton_layers)
  target_sources(hiaton_shared PRIVATE $<TARGET_OBJECTS:hiaton_${layer}>)
endforeach()
add_dependencies(hiaton_shared hiaton_ops_header)
set_target_properties(hiaton_shared PROPERTIES
  OUTPUT_NAME hiaton
  EXPORT_NAME hiaton
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})  # until 1.0 every minor version may break
target_compile_features(hiaton_shared INTERFACE cxx_std_20)
target_include_directories(hiaton_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                   $<BUILD_INTERFACE:${hiaton_made_headers}>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(hiaton_shared PRIVATE fmt::fmt dnnl Threads::Threads)
# Templates of the standard library that were instantiated with public types are no part of the interface.
target_link_options(hiaton_shared PRIVATE LINKER:--gc-sections,-Bsymbolic-functions
                                          LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT HIATON_SANITIZE)  # clang's sanitizers are in the program that loads it
  target_link_options(hiaton_shared PRIVATE LINKER:--no-undefined)
endif()
set_target_properties(hiaton_shared PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)

install(TARGETS hiaton RUNTIME COMPONENT command)
install(TARGETS hiaton_shared EXPORT hiaton
        LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/hiaton ${hiaton_made_headers}/hiaton TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN "*.h")
install(DIRECTORY models examples DESTINATION ${CMAKE_INSTALL_DATADIR}/hiaton COMPONENT command
        FILES_MATCHING PATTERN "*.hia")
install(DIRECTORY docs/ TYPE DOC COMPONENT command FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(FILES README.md LICENSE TYPE DOC COMPONENT command)
install(FILES tools/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hiaton
        COMPONENT command)

# CMake: find_package(hiaton), then link hiaton::hiaton.
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/hiaton)
install(EXPORT hiaton NAMESPACE hiaton:: DESTINATION ${package_directory} FILE hiatonConfig.cmake
        COMPONENT development)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hiatonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hiatonConfigVersion.cmake DESTINATION ${package_directory} COMPONENT development)

# Everyone else: pkg-config --cflags --libs hiaton.
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/hiaton.pc.in hiaton.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hiaton.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Debian: cpack -G DEB makes one package of all of it.
set(CPACK_PACKAGE_VENDOR "The Hiaton developers")
set(CPACK_PACKAGE_CONTACT "The Hiaton developers <developers@hiaton.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libdnnl${dnnl_major})  # it is loaded while a program runs, so shlibdeps does not see it
set(CPACK_DEBIAN_PACKAGE_SUGGESTS graphviz)
include(CPack)
