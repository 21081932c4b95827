#include "inspector/report/row_figures.h"

#include "inspector/compare/comparison.h"
#include "inspector/compare/numerics.h"

namespace vitrine::inspector {

RowFigures change_figures(const Comparison& comparison) {
  RowFigures figures;
  if (comparison.has_ticks) return figures;
  figures.title = "change of time";
  figures.about = "median time of B - median time of A; ops that only A runs are not in this graph";
  figures.is_change = true;
  for (const ComparedOp& op : comparison.ops) {
    for (const size_t row : op.rows_b) figures.values_of_row[row] = {figures.values.size()};
    figures.values.push_back(op.change);
  }
  return figures;
}

RowFigures error_figures(const Numerics& numerics) {
  RowFigures figures;
  figures.title = "error made here";
  figures.about = "SQNR of the op's result, compared with the reference's op for the same inputs";
  for (const NumericsRow& row : numerics.rows) {
    if (!row.made_here) continue;
    figures.values_of_row[row.row].push_back(figures.values.size());
    figures.values.push_back(row.made_here->sqnr_db);
  }
  return figures;
}

}  // namespace vitrine::inspector
