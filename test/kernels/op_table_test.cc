// Checks that the generated page of operators lists exactly the operators in the tables.
#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <string>

#include "kernels/llm/llm_kernels.h"
#include "kernels/optimized/optimized_kernels.h"
#include "kernels/portable/portable_kernels.h"
#include "kernels/quantized/quantized_kernels.h"

namespace vitrine {
namespace {

TEST(OpTable, ListsAllOperatorsOfTheKernelTables) {
  std::set<std::string> expected;
  for (const KernelTable& table :
       {optimized::kernels(), portable::kernels(), quantized::kernels(), llm::kernels()}) {
    for (const Kernel* kernel : table.kernels) expected.insert(kernel->name);
  }
  std::ifstream page(VITRINE_OP_TABLE);
  ASSERT_TRUE(page) << VITRINE_OP_TABLE;
  std::set<std::string> named;
  const std::string begin = "| `";
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(begin)) continue;
    const std::string name = line.substr(begin.size(), line.find('`', begin.size()) - begin.size());
    EXPECT_TRUE(named.insert(name).second) << name;
    EXPECT_THAT(line, testing::AnyOf(testing::HasSubstr(".cc`"), testing::HasSubstr(".inc`")))
        << name << " has no source file";
  }
  EXPECT_EQ(named, expected);
}

}  // namespace
}  // namespace vitrine
