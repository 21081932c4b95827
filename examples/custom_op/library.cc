// The entry point of libmy_ops.so, which `executor_runner --load libmy_ops.so` loads.
#include "my_ops.h"
#include "vitrine/extension.h"

namespace my_ops {
namespace {

const vitrine::Extension kExtension = {.name = "my_ops", .kernels = kernels()};

}  // namespace
}  // namespace my_ops

VITRINE_EXTENSION(my_ops::kExtension)
