// Programs of several files: finding and reading what they import.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_bytes.h"
#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "lang/library.h"

namespace hiaton::lang {
namespace {

constexpr std::string_view kImport = "import";
constexpr std::string_view kSpaces = " \t\r";

/// `import "lib.hia"`
struct Import {
  std::string_view file;
  Span span;  ///< where the name stands, with its quotes
};

/// The imports of a text: each stands at the beginning of a line.
std::vector<Import> imports_of(std::string_view text) {
  std::vector<Import> found;
  for (std::size_t at = text.find(kImport); at != std::string_view::npos;
       at = text.find(kImport, at + kImport.size())) {
    const std::size_t before = text.substr(0, at).find_last_not_of(kSpaces);
    if (before != std::string_view::npos && text[before] != '\n') continue;
    const std::size_t open = text.find_first_not_of(kSpaces, at + kImport.size());
    if (open == std::string_view::npos || text[open] != '"') continue;
    const std::size_t close = text.find_first_of("\"\n", open + 1);
    if (close == std::string_view::npos || text[close] == '\n') continue;
    found.push_back({text.substr(open + 1, close - open - 1),
                     {static_cast<uint32_t>(open), static_cast<uint32_t>(close + 1)}});
  }
  return found;
}

bool has_control_character(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

class ImportReader {
 public:
  explicit ImportReader(const Source& program) : name_(program.name()) {
    const std::vector<Source::File>& files = program.files();
    const std::string_view text = program.text();
    for (std::size_t i = 1; i < files.size(); ++i) {
      const std::size_t end =
          i + 1 < files.size() ? text.rfind(kFileMark, files[i + 1].begin - 1) : text.size();
      known_.emplace(files[i].key, text.substr(files[i].begin, end - files[i].begin));
    }
    all_ = text.substr(0, files.size() > 1 ? text.rfind(kFileMark, files[1].begin - 1) : text.size());
  }

  std::shared_ptr<const Source> run() {
    const std::string own = first_name_of(std::filesystem::path(name_).filename().string());
    read_imports(own, 0);
    return std::make_shared<const Source>(name_, std::move(all_));
  }

 private:
  /// Reads what the file `key` imports, whose text begins at `begin` and ends the whole.
  void read_imports(const std::string& key, std::size_t begin) {
    open_.push_back(key);
    const std::string text = all_.substr(begin);  // what is imported comes behind it
    for (const Import& import : imports_of(text)) {
      const auto shift = static_cast<uint32_t>(begin);
      read(import.file, {import.span.begin + shift, import.span.end + shift});
    }
    done_.push_back(key);
    open_.pop_back();
  }

  void read(std::string_view file, Span span) {
    const std::string key = first_name_of(key_of(file, span));
    if (std::find(done_.begin(), done_.end(), key) != done_.end()) return;
    const auto begin = std::find(open_.begin(), open_.end(), key);
    if (begin != open_.end()) {
      fail(span, fmt::format("this import comes back to where it began: {} imports {}",
                             fmt::join(begin, open_.end(), " imports "), key));
    }
    if (open_.size() == kMaxDepth) fail(span, "expected fewer files that import each other");
    const std::string text = text_of(key, span);
    const std::string mark = fmt::format("{}{}{}\"\n", all_.ends_with('\n') ? "" : "\n", kFileMark, key);
    if (all_.size() + mark.size() + text.size() > kMaxProgramBytes) {
      fail(span, fmt::format("expected a program of at most {} MiB with all of its files, found more with "
                             "this one",
                             kMaxProgramBytes >> 20));
    }
    all_ += mark;
    all_ += text;
    read_imports(key, all_.size() - text.size());
  }

  /// The file relative to the program's own folder.
  std::string key_of(std::string_view file, Span span) const {
    if (is_of_library(file)) return std::string(file);
    if (!file.ends_with(".hia") || has_control_character(file)) {
      fail(span,
           fmt::format("expected a file that ends in '.hia', or one of the standard library ({}), found "
                       "'{}'",
                       library_names(), file));
    }
    return (std::filesystem::path(open_.back()).parent_path() / file).lexically_normal().string();
  }

  /// What the file was called where it was imported first: it may have several names, by an absolute path or
  /// a link.
  std::string first_name_of(const std::string& key) {
    if (is_of_library(key) || known_.contains(key)) return key;
    std::error_code none;  // a file that is not there is reported when it is read
    const auto path = std::filesystem::canonical(std::filesystem::path(name_).parent_path() / key, none);
    return none ? key : first_names_.try_emplace(path.string(), key).first->second;
  }

  static std::string library_names() {
    std::string names;
    for (const LibraryFile& file : library())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", file.name);
    return names;
  }

  std::string text_of(const std::string& key, Span span) const {
    const auto known = known_.find(key);
    if (known != known_.end()) return std::string(known->second);
    if (is_of_library(key)) return library_text(key, span);
    std::string text;
    try {
      text = read_file((std::filesystem::path(name_).parent_path() / key).lexically_normal().string(),
                       kMaxProgramBytes);
    } catch (const ProgramError& error) {
      fail(span, error.what());
    }
    const Source read(key, std::move(text));
    if (read.files().size() > 1) {
      fail(span,
           fmt::format("expected a file of its own, found one that holds others: '{}'", read.files()[1].key));
    }
    return std::string(read.text());
  }

  std::string library_text(const std::string& key, Span span) const {
    for (const LibraryFile& file : library()) {
      if (file.name == key) return std::string(file.text);
    }
    fail(span, fmt::format("expected a file of the standard library ({}), found '{}'", library_names(), key));
  }

  [[noreturn]] void fail(Span span, std::string message) const {
    throw ProgramError(std::make_shared<const Source>(name_, all_), {{span, std::move(message)}});
  }

  static constexpr std::size_t kMaxDepth = 200;
  const std::string name_;
  std::map<std::string, std::string_view, std::less<>> known_;  ///< files that stand in the text already
  std::map<std::string, std::string> first_names_;              ///< by path without links
  std::string all_;
  std::vector<std::string> open_;  ///< files whose imports are being read, the program's own first
  std::vector<std::string> done_;
};

}  // namespace

std::shared_ptr<const Source> with_imports(const std::shared_ptr<const Source>& source) {
  const bool is_alone = source->files().size() == 1 && imports_of(source->text()).empty();
  const bool is_too_long = source->text().size() > kMaxProgramBytes;
  return is_alone || is_too_long ? source : ImportReader(*source).run();
}

}  // namespace hiaton::lang
