// What vector.inc.h and math.inc.h use, outside of the namespaces that they stand in.
#pragma once

#include <array>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
