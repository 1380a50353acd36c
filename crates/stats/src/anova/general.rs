use super::{Anova, Cells};
pub(super) fn analyse(cells: &Cells, max_order: usize) -> Anova {
    super::balanced::analyse(cells, max_order)
}
