// Types that several expressions tell together: what one of them leaves open, another says.
#pragma once

#include "lang/body_checker.h"

namespace hiaton::lang {

/// What values of one generic data type tell of its types. Others are left out.
struct BodyChecker::Collected {
  const GenericType* generic = nullptr;
  TypeArguments arguments;

  void add(const GenericType& type, const TypeArguments& told) {
    if (generic == nullptr) {
      generic = &type;
      arguments = told;
    }
    for (std::size_t i = 0; generic == &type && i < told.size(); ++i) {
      if (!arguments[i].type) arguments[i].type = told[i].type;
    }
  }
};

/// Attempts inside each other: each makes what is inside of it twice.
inline constexpr int kMostAttempts = 6;

/// Whether it is a tuple of which a part, or a part of a part, consists of numbers without a type of their
/// own.
bool has_parts_of_numbers(const Syntax& in, ExprId value);
/// Whether it is such a tuple or consists of such numbers itself.
bool is_of_numbers(const Syntax& in, ExprId value);

}  // namespace hiaton::lang
