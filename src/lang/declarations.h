// What stands beside the functions of a program: sizes, data types and learned parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hiaton/initializer.h"
#include "hiaton/lang.h"
#include "ir/names.h"
#include "lang/diagnostics.h"
#include "lang/function_types.h"
#include "lang/symbols.h"

namespace hiaton::lang {

/// A variant of a data type.
struct VariantPlace {
  Type data;
  std::size_t index = 0;

  const Variant& operator*() const { return data.data->variants[index]; }
  const Variant* operator->() const { return &**this; }
};

/// A data type with type parameters: what it is made of is read again for each use.
struct GenericType {
  struct FieldPlace {
    Symbol name = 0;
    std::size_t type = 0;  ///< its first token
  };
  struct VariantHead {
    Symbol name = 0;
    Span span{};
    std::vector<FieldPlace> fields;
  };
  Symbol name = 0;
  Span span{};
  std::vector<Symbol> params;
  std::size_t variants_begin = 0;  ///< the first token
  std::vector<VariantHead> variants{};
  std::string text{};  ///< the declaration in one line
};

/// `type Pairs[T] = List[Pair[T, T]]`: another name for a type, which is read again for each use.
struct TypeAlias {
  Symbol name = 0;
  Span span{};
  std::vector<Symbol> params;
  std::size_t type = 0;    ///< the first token
  bool is_broken = false;  ///< it has an error, which is reported
  bool is_being_read = false;
  std::optional<Type> known{};  ///< what it stands for, where it has no parameters and was read
  std::string text{};           ///< the declaration in one line
};

struct GenericVariant {
  const GenericType* type = nullptr;
  std::size_t index = 0;

  const GenericType::VariantHead& operator*() const { return type->variants[index]; }
  const GenericType::VariantHead* operator->() const { return &**this; }
};

struct Size {
  std::optional<int64_t> value;  ///< empty where it could not be read, which is reported
  Span span{};
};

struct ParameterDeclaration {
  Symbol name = 0;
  Span span{};
  Type type;  ///< as written; not yet checked to be a tensor of fixed dimensions
  std::optional<Initializer> initial{};
  std::optional<uint32_t> placement{};  ///< in TokenList::strings
};

/// "Point(x: f64, y: f64)"
std::string declaration_of(const Variant& variant);

/// Symbols stand for sizes in one function only: any size takes their place.
Type without_symbols(Type type);

/// Filled before any body is read.
class Declarations {
 public:
  Declarations(const Source& source, const Symbols& symbols, DataTypes& types, const ParseOptions& options,
               Diagnostics& diagnostics)
      : source_(source),
        symbols_(symbols),
        types_(types),
        options_(options),
        diagnostics_(diagnostics),
        function_types_(types, diagnostics) {}

  // The built-in list, which has one type for each type of elements.
  static constexpr std::string_view kList = "List";
  static constexpr std::size_t kNil = 0;
  static constexpr std::size_t kCons = 1;
  /// A list is of one type whatever a symbol stands for: its elements are of any size where a symbol stands.
  Type list_of(const Type& element) { return types_.list_of(without_symbols(element)); }
  Type tuple_of(const std::vector<Type>& parts) { return types_.tuple_of(parts); }
  FunctionTypes& function_types() { return function_types_; }
  const FunctionTypes& function_types() const { return function_types_; }
  static bool is_list(const Type& type) { return type.is_data() && ir::is_list(*type.data); }
  static Type element_of(const Type& list) { return field_type(list, kCons, 0); }
  /// kNil or kCons, where a word names a variant of the built-in list.
  static std::optional<std::size_t> list_variant(std::string_view name);

  /// A type, variant or learned parameter of this name begins. Where nothing comes of it, that is reported,
  /// and uses of the name are no findings.
  void announce(Symbol name) { announced_.insert(name); }
  /// Reports a name that is taken. The value that the options give counts instead of the one in the text;
  /// that is empty where it could not be read, which is reported.
  void add_size(Symbol name, Span span, std::optional<int64_t> value);
  /// Empty where the name is taken, which is reported.
  std::optional<Type> declare_type(Symbol name, Span span);
  /// The variants of a declared type, by the symbols of their names.
  void define_type(const Type& type, std::vector<std::pair<Symbol, Variant>> variants,
                   const std::vector<Span>& spans);
  // Generic data types.
  /// nullptr where the name is taken, which is reported.
  GenericType* declare_generic_type(GenericType type);
  void define_generic_type(const GenericType& type);
  /// The type for these arguments; `is_new` where it has no variants yet.
  struct Instance {
    Type type;
    bool is_new = false;
  };
  Instance instance(const GenericType& generic, const std::vector<Type>& arguments);
  void define_instance(const Type& type, std::vector<Variant> variants) {
    types_.redefine(type, std::move(variants));
  }
  // Other names for types.
  /// nullptr where the name is taken, which is reported.
  TypeAlias* declare_alias(TypeAlias alias);
  TypeAlias* alias(Symbol name) {
    const auto found = aliases_.find(name);
    return found == aliases_.end() ? nullptr : found->second.get();
  }

  const GenericType* generic_type(Symbol name) const {
    const auto found = generic_types_.find(name);
    return found == generic_types_.end() ? nullptr : found->second.get();
  }
  const GenericVariant* generic_variant(Symbol name) const { return find(generic_variants_, name); }
  /// The arguments of a type that is one of the generic type; nullptr where it is none.
  const std::vector<Type>* arguments_of(const Type& type, const GenericType& generic) const;
  /// How many types are being made for each other's fields.
  int& instance_depth() { return instance_depth_; }

  /// Reports a name that is taken.
  void add_parameter(ParameterDeclaration parameter);
  /// Reports data types of which no value can be made.
  void refuse_types_without_values();
  /// Reports sizes and learned parameters that are named like variants.
  void refuse_names_of_variants();
  /// Throws ProgramError where the options name sizes that the program does not have.
  void require_sizes_of_options() const;

  /// Whether declarations of this name came to nothing.
  bool is_broken(Symbol name) const {
    return announced_.contains(name) && !data_types_.contains(name) && !is_variant(name) &&
           !generic_types_.contains(name) && !parameter_numbers_.contains(name) && !aliases_.contains(name);
  }
  const Symbols& symbols() const { return symbols_; }
  std::string_view spelled(Symbol name) const { return symbols_[name]; }
  std::size_t size_count() const { return sizes_.size(); }
  const Size* size(Symbol name) const { return find(sizes_, name); }
  const Type* type(Symbol name) const { return find(data_types_, name); }
  const VariantPlace* variant(Symbol name) const { return find(variants_, name); }
  /// Whether the name is a variant of a data type of the program or of the built-in list.
  bool is_variant(Symbol name) const {
    return variants_.contains(name) || generic_variants_.contains(name) ||
           list_variant(symbols_[name]).has_value();
  }
  const std::size_t* parameter(Symbol name) const { return find(parameter_numbers_, name); }
  const std::vector<ParameterDeclaration>& parameters() const { return parameters_; }

  /// The declarations of generic types, with those of the names that they may use for types, in one line
  /// each.
  std::vector<std::string> generic_texts() const;

  template <class Visit>
  void for_each_type_name(Visit visit) const {
    for (const auto& [name, type] : data_types_) visit(symbols_[name]);
    for (const auto& [name, type] : generic_types_) visit(symbols_[name]);
    for (const auto& [name, alias] : aliases_) visit(symbols_[name]);
  }
  template <class Visit>
  void for_each_variant_name(Visit visit) const {
    for (const auto& [name, place] : variants_) visit(symbols_[name]);
    for (const auto& [name, place] : generic_variants_) visit(symbols_[name]);
  }
  template <class Visit>
  void for_each_size(Visit visit) const {
    for (const auto& [name, size] : sizes_) visit(symbols_[name], size);
  }
  /// Names that stand for values everywhere.
  template <class Visit>
  void for_each_value_name(Visit visit) const {
    for (const auto& [name, number] : parameter_numbers_) visit(symbols_[name]);
    for_each_size([&](std::string_view name, const Size&) { visit(name); });
  }

 private:
  template <class Thing>
  using BySymbol = std::unordered_map<Symbol, Thing>;
  template <class Thing>
  static const Thing* find(const BySymbol<Thing>& things, Symbol name) {
    const auto found = things.find(name);
    return found == things.end() ? nullptr : &found->second;
  }
  struct InstanceOf {
    const GenericType* generic = nullptr;
    std::vector<Type> arguments;
  };
  std::unordered_set<const DataType*> types_with_values() const;
  bool is_free_for_value(Symbol name, Span span);
  bool is_free_for_type(Symbol name, Span span);
  /// Reports a name that is taken.
  bool is_free_for_variant(Symbol name, Span span);
  void refuse_variant(Symbol name, Span span, std::string_view what);
  /// Where a file of the library has a name that the program has too, the program is told: it cannot change
  /// that file. False where neither is of the library.
  bool is_of_library_too(Symbol name, Span first, Span second, std::string_view what);

  const Source& source_;
  const Symbols& symbols_;
  DataTypes& types_;
  const ParseOptions& options_;
  Diagnostics& diagnostics_;
  FunctionTypes function_types_;
  std::unordered_set<Symbol> announced_;
  BySymbol<Size> sizes_;
  BySymbol<Type> data_types_;
  std::vector<std::pair<Symbol, Span>> declared_types_;  ///< in the order of the text
  BySymbol<Span> type_spans_;                            ///< of the names of data types and aliases
  BySymbol<Span> variant_spans_;                         ///< of the names of variants
  BySymbol<VariantPlace> variants_;
  BySymbol<std::unique_ptr<GenericType>> generic_types_;
  BySymbol<GenericVariant> generic_variants_;
  BySymbol<std::unique_ptr<TypeAlias>> aliases_;
  std::unordered_map<const DataType*, InstanceOf> instances_;
  int instance_depth_ = 0;
  BySymbol<std::size_t> parameter_numbers_;
  std::vector<ParameterDeclaration> parameters_;
};

}  // namespace hiaton::lang
