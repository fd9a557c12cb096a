// Names of the instructions that vector.inc.h uses, outside of the namespaces that it stands in.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif
