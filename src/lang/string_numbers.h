// Which of many strings one is, by few tests.
#pragma once

#include <span>

#include "hiaton/builder.h"
#include "hiaton/value.h"

namespace hiaton::lang {

/// So many strings are compared as fast one after the other.
constexpr std::size_t kMostStringsInTurn = 4;

/// The place of the one among distinct strings that is equal to the text; as many as there are where none is.
Var number_among(FunctionBuilder& f, Var text, std::span<const Value> strings, Span span);

}  // namespace hiaton::lang
