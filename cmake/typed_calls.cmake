# hiaton/ops.h, the public header of typed calls, is made from the catalogue by a program that is built for that.
add_executable(hiaton_typed_calls tools/typed_calls/main.cpp)
target_link_libraries(hiaton_typed_calls PRIVATE hiaton_ops)
set(hiaton_made_headers ${PROJECT_BINARY_DIR}/include)
set(header ${hiaton_made_headers}/hiaton/ops.h)
file(MAKE_DIRECTORY ${hiaton_made_headers}/hiaton)
add_custom_command(OUTPUT ${header} COMMAND hiaton_typed_calls ${header} DEPENDS hiaton_typed_calls
                   COMMENT "Writing the typed calls of the operations")
add_custom_target(hiaton_ops_header DEPENDS ${header})
# Who links the engine sees it, and is compiled after it is there.
add_dependencies(hiaton_engine hiaton_ops_header)
target_include_directories(hiaton_engine PUBLIC ${hiaton_made_headers})
