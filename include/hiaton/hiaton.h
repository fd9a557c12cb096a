// All of Hiaton's public interface. What these headers declare between `#pragma GCC visibility push(default)`
// and `pop` is what the shared library exports.
#pragma once

#include "hiaton/builder.h"
#include "hiaton/engine.h"
#include "hiaton/error.h"
#include "hiaton/graph.h"
#include "hiaton/initializer.h"
#include "hiaton/ir.h"
#include "hiaton/lang.h"
#include "hiaton/learner.h"
#include "hiaton/model.h"
#include "hiaton/op.h"
#include "hiaton/passes.h"
#include "hiaton/phase.h"
#include "hiaton/run.h"
#include "hiaton/source.h"
#include "hiaton/strong_id.h"
#include "hiaton/tensor.h"
#include "hiaton/train.h"
#include "hiaton/trees.h"
#include "hiaton/type.h"
#include "hiaton/value.h"
