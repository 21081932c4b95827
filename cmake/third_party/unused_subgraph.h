// Leaves out operators of the pin `upstream` that no delegate uses, so that executables do not
// contain them. These are the operators for the layout NCHW, which XNNPACK chooses only on request.
// All nodes of XNNPACK's graphs include this header.
#pragma once

#include "src/xnnpack/internal.h"
#include "unused_operators.h"

#define xnn_create_convolution2d_nchw_f16(...) xnn_status_unsupported_parameter
#define xnn_create_convolution2d_nchw_f32(...) xnn_status_unsupported_parameter
#define xnn_create_convolution2d_nchw_f32_f16(...) xnn_status_unsupported_parameter
#define xnn_create_resize_bilinear2d_nchw(...) xnn_status_unsupported_parameter
