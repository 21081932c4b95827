// Everything that a program needs to run models; vitrine/module.h has an example.
#pragma once

#include "vitrine/array.h"
#include "vitrine/call_profile.h"
#include "vitrine/module.h"
#include "vitrine/version.h"
