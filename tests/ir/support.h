// What the tests of the ir share.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hiaton/builder.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"

namespace hiaton {

inline ir::Module parse(std::string text) {
  return lang::parse(std::make_shared<Source>("test.hia", std::move(text)));
}

/// A module with one function `f`.
inline ir::Module module_of(std::vector<ir::ValueInfo> params, std::vector<Type> results,
                            const std::function<Vars(FunctionBuilder&)>& body) {
  ModuleBuilder builder;
  builder.define(builder.declare("f", std::move(params), std::move(results)), body);
  return builder.finish();
}

/// The message of the ProgramError that `action` throws; empty where it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ProgramError& error) {
    return error.what();
  }
  return "";
}

/// What a builder says of a function of a number, a float and a truth value whose body this is.
inline std::string error_in(const std::function<Vars(FunctionBuilder&)>& body) {
  return error_of([&] {
    module_of({{DType::I64, "n"}, {DType::F64, "x"}, {DType::Bool, "c"}}, {DType::I64}, body);
  });
}

}  // namespace hiaton
