// Includes the C++ API for applications that run models. vitrine/module.h has an example.
#pragma once

#include "vitrine/array.h"
#include "vitrine/call_profile.h"
#include "vitrine/extension.h"
#include "vitrine/module.h"
#include "vitrine/version.h"
