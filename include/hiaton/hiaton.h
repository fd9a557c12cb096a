// All of Hiaton's public interface.
#pragma once

#include "hiaton/builder.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/graph.h"
#include "hiaton/ir.h"
#include "hiaton/lang.h"
#include "hiaton/op.h"
#include "hiaton/passes.h"
#include "hiaton/run.h"
#include "hiaton/source.h"
#include "hiaton/trace.h"
#include "hiaton/type.h"
#include "hiaton/value.h"
