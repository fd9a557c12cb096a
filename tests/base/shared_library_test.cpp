// Libraries that are loaded while a program runs.
#include "base/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hiaton/error.h"

namespace hiaton {
namespace {

using testing::HasSubstr;

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SharedLibraries, GiveTheirFunctions) {
  const SharedLibrary library("libm.so.6", "roots", "libc6");
  EXPECT_EQ(library.find<double(double)>("cbrt")(27), 3);
}

TEST(SharedLibraries, ThatAreMissingAreNamedWithWhoNeedsThem) {
  const std::string message =
      message_of([] { SharedLibrary("libno-such.so.7", "convolutions", "libno-such7"); });
  EXPECT_THAT(message, HasSubstr("convolutions need libno-such.so.7, which cannot be loaded: "));
  EXPECT_THAT(message, HasSubstr("Debian has it in the package libno-such7"));
}

TEST(SharedLibraries, WithoutAFunctionSayWhichOneIsMissing) {
  const SharedLibrary library("libm.so.6", "roots", "libc6");
  EXPECT_EQ(message_of([&] { library.find<double(double)>("cube_root_of"); }),
            "expected a function cube_root_of in libm.so.6, found none: it is another version");
}

}  // namespace
}  // namespace hiaton
