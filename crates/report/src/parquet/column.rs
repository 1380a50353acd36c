//! The type of a column, and its cells as a page.

use model::Timestamp;

use super::thrift::varint;
use crate::delimited::Grid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Truth,
    Whole,
    Number,
    /// Microseconds since 1970, UTC.
    Moment,
    Text,
    /// No cell has a value: a reader may take it for a column of any type.
    Nothing,
}

impl Kind {
    /// As Parquet numbers its types.
    pub(super) fn physical(self) -> i32 {
        match self {
            Kind::Truth => 0,
            Kind::Nothing => 1,
            Kind::Whole | Kind::Moment => 2,
            Kind::Number => 5,
            Kind::Text => 6,
        }
    }

    fn of<'c>(cells: impl Iterator<Item = &'c str> + Clone) -> Self {
        let mut filled = cells.filter(|cell| !cell.is_empty());
        let all = |is: fn(&str) -> bool| filled.clone().all(is);
        match () {
            () if filled.clone().next().is_none() => Kind::Nothing,
            () if all(|cell| truth(cell).is_some()) => Kind::Truth,
            () if all(|cell| whole(cell).is_some()) => Kind::Whole,
            () if all(|cell| number(cell).is_some()) => Kind::Number,
            () if filled.all(|cell| moment(cell).is_some()) => Kind::Moment,
            () => Kind::Text,
        }
    }
}

#[derive(Debug)]
pub(super) struct Column<'g> {
    pub(super) name: &'g str,
    pub(super) kind: Kind,
    place: usize,
}

impl<'g> Column<'g> {
    pub(super) fn of(grid: &'g Grid, place: usize) -> Self {
        let cells = grid.rows.iter().map(|row| cell(row, place));
        Column {
            name: &grid.headers[place],
            kind: Kind::of(cells),
            place,
        }
    }

    /// Which cells have a value, then the values.
    pub(super) fn page(&self, rows: &[Vec<String>]) -> Vec<u8> {
        let cells = || rows.iter().map(|row| cell(row, self.place));
        let mut levels = Vec::new();
        let filled: Vec<bool> = cells().map(|cell| !cell.is_empty()).collect();
        for run in filled.chunk_by(|a, b| a == b) {
            varint(&mut levels, (run.len() as u64) << 1);
            levels.push(u8::from(run[0]));
        }
        let mut page = (levels.len() as u32).to_le_bytes().to_vec();
        page.extend(levels);
        let mut bits = Bits::default();
        for cell in cells().filter(|cell| !cell.is_empty()) {
            match self.kind {
                Kind::Truth => bits.push(truth(cell).unwrap_or_default()),
                Kind::Whole => page.extend(whole(cell).unwrap_or_default().to_le_bytes()),
                Kind::Number => page.extend(number(cell).unwrap_or_default().to_le_bytes()),
                Kind::Moment => page.extend(moment(cell).unwrap_or_default().to_le_bytes()),
                Kind::Text | Kind::Nothing => {
                    page.extend((cell.len() as u32).to_le_bytes());
                    page.extend(cell.as_bytes());
                }
            }
        }
        page.extend(bits.bytes);
        page
    }
}

fn cell(row: &[String], place: usize) -> &str {
    row.get(place).map_or("", String::as_str)
}

fn truth(cell: &str) -> Option<bool> {
    cell.parse().ok()
}

/// `007` is a name.
fn whole(cell: &str) -> Option<i64> {
    let value: i64 = cell.parse().ok()?;
    (value.to_string() == cell).then_some(value)
}

/// `1.10` is a version, `007` and `inf` are names.
fn number(cell: &str) -> Option<f64> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let is_digit = |c: &u8| c.is_ascii_digit();
    let mut begin = digits.bytes();
    let (first, second) = (begin.next(), begin.next());
    let is_padded = first == Some(b'0') && second.as_ref().is_some_and(is_digit);
    let is_version = digits.contains('.') && digits.ends_with('0') && !digits.contains('e');
    let is_number = first.as_ref().is_some_and(is_digit) && !is_padded && !is_version;
    cell.parse()
        .ok()
        .filter(|value: &f64| is_number && value.is_finite())
}

fn moment(cell: &str) -> Option<i64> {
    let moment: Timestamp = cell.parse().ok()?;
    Some(moment.as_microsecond())
}

/// Eight to a byte, the first the lowest.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.count.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.count % 8);
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_type_of_all_its_cells() {
        let check = |cells: &[&str], expected: Kind| {
            assert_eq!(Kind::of(cells.iter().copied()), expected, "{cells:?}");
        };
        check(&[], Kind::Nothing);
        check(&["", ""], Kind::Nothing);
        check(&["true", "", "false"], Kind::Truth);
        check(&["1", "", "-20"], Kind::Whole);
        check(&["1", "0.5", "3e-9"], Kind::Number);
        check(&["1.10", "1.9"], Kind::Text);
        check(&["007", "8"], Kind::Text);
        check(&["inf"], Kind::Text);
        check(&["2026-11-18T10:00:00Z", ""], Kind::Moment);
        check(&["2026-11-18T10:00:00Z", "x"], Kind::Text);
        check(&["rede1", "2"], Kind::Text);
    }

    #[test]
    fn a_page_says_which_cells_are_there() {
        let grid = Grid {
            headers: vec!["a".to_owned()],
            rows: ["7", "7", "", "8"].map(|c| vec![c.to_owned()]).to_vec(),
        };
        let page = Column::of(&grid, 0).page(&grid.rows);
        let levels = [6, 0, 0, 0, 4, 1, 2, 0, 2, 1];
        assert_eq!(page[..10], levels);
        assert_eq!(page[10..], [7u64, 7, 8].map(u64::to_le_bytes).concat());
    }
}
