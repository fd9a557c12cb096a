// Which types the type parameters of a generic function or data type stand for, where it is used.
#pragma once

#include <string>

#include "lang/reader.h"

namespace hiaton::lang {

/// Learns from types that are known: those of arguments, and the one that is wished for the result.
class TypeInference : Reader {
 public:
  TypeInference(const std::vector<Symbol>& params, const Source& source, const TokenList& tokens,
                Declarations& declarations, Diagnostics& diagnostics);

  /// The types that stand in brackets at the use.
  void set(std::span<const std::optional<Type>> arguments);
  /// The type whose first token is at `position` becomes `actual`, as far as that can be.
  void match(std::size_t position, const Type& actual);
  /// The same for a generic data type of which some types are known, where it is written as one.
  void match(std::size_t position, const GenericType& generic, const TypeArguments& known);
  /// Whether it may become `actual`, whatever the type parameters stand for that are not known yet.
  bool may_be(std::size_t position, const Type& actual) const;
  /// The type as it is written.
  std::string text_at(std::size_t position);
  /// That type; empty where it names a type parameter that is not known, or is wrong, which is reported.
  std::optional<Type> type_at(std::size_t position);
  /// Empty where the type is that of a value.
  std::optional<FunctionPlaces> function_at(std::size_t position);
  /// Whether it is a list.
  bool is_list_at(std::size_t position);
  /// The data type for these types; empty where it is wrong, which is reported.
  std::optional<Type> instance_of(const GenericType& generic, Span span);
  /// The type parameters that the type names.
  std::vector<Symbol> params_at(std::size_t position);
  /// The first type parameter that is not known; empty where all are.
  std::string missing() const;
  const TypeArguments& arguments() const { return arguments_; }

 private:
  /// In the same program.
  TypeInference(const std::vector<Symbol>& params, const TypeInference& other);
  TypeArguments arguments_of_alias(const TypeAlias& alias, const Type& actual);
  void match_next(const Type* actual);
  void match_tuple(const Type* actual);
  void match_function(const Type* actual);
  bool has_several_types();
  bool is_known_at(std::size_t position);
  TypeArgument* find(const Token& token);

  TypeArguments arguments_;
  bool differs_ = false;  ///< some type that was matched is no such list, data value, tuple or function
};

/// "T = i64, U = Tree"
std::string to_string(const TypeArguments& arguments, const Declarations& declarations);
/// "T = i64, f = square": what a use of a function is for.
std::string text_of_use(const FunctionHead& use, const Declarations& declarations);

}  // namespace hiaton::lang
