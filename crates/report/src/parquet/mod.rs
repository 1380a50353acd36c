//! A table as a Parquet file: one data page a column and row group, PLAIN encoding, no compression.
//! Columns have types: what all cells of a column are decides. The format is that of
//! <https://parquet.apache.org/docs/file-format/>.

mod column;
mod thrift;

use column::{Column, Kind};
use thrift::Struct;

use crate::delimited::Grid;

const MAGIC: &[u8; 4] = b"PAR1";
/// A page counts its bytes with 31 bits.
const ROWS_A_GROUP: usize = 100_000;

/// Numbers of the format's enumerations.
const OPTIONAL: i32 = 1;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const DATA_PAGE: i32 = 0;
const UNCOMPRESSED: i32 = 0;

pub(crate) fn parquet(grid: &Grid) -> Vec<u8> {
    let columns: Vec<Column> = (0..grid.headers.len())
        .map(|place| Column::of(grid, place))
        .collect();
    let mut out = MAGIC.to_vec();
    let groups: Vec<Struct> = grid
        .rows
        .chunks(ROWS_A_GROUP)
        .map(|rows| row_group(&mut out, &columns, rows))
        .collect();
    let footer = footer(&columns, grid.rows.len(), groups).finish();
    out.extend(&footer);
    out.extend((footer.len() as u32).to_le_bytes());
    out.extend(MAGIC);
    out
}

fn row_group(out: &mut Vec<u8>, columns: &[Column], rows: &[Vec<String>]) -> Struct {
    let begin = out.len();
    let mut chunks = Vec::new();
    for column in columns {
        let at = out.len();
        let page = column.page(rows);
        let header = Struct::new()
            .i32(1, DATA_PAGE)
            .i32(2, page.len() as i32)
            .i32(3, page.len() as i32)
            .nested(
                5,
                Struct::new()
                    .i32(1, rows.len() as i32)
                    .i32(2, PLAIN)
                    .i32(3, RLE)
                    .i32(4, RLE),
            );
        out.extend(header.finish());
        out.extend(page);
        let bytes = (out.len() - at) as i64;
        let about = Struct::new()
            .i32(1, column.kind.physical())
            .i32s(2, &[PLAIN, RLE])
            .texts(3, &[column.name])
            .i32(4, UNCOMPRESSED)
            .i64(5, rows.len() as i64)
            .i64(6, bytes)
            .i64(7, bytes)
            .i64(9, at as i64);
        chunks.push(Struct::new().i64(2, at as i64).nested(3, about));
    }
    Struct::new()
        .structs(1, chunks)
        .i64(2, (out.len() - begin) as i64)
        .i64(3, rows.len() as i64)
}

fn footer(columns: &[Column], rows: usize, groups: Vec<Struct>) -> Struct {
    let root = Struct::new().text(4, "table").i32(5, columns.len() as i32);
    let leaf = |column: &Column| {
        let leaf = Struct::new()
            .i32(1, column.kind.physical())
            .i32(3, OPTIONAL)
            .text(4, column.name);
        match column.kind {
            // What older readers know of it, and what newer ones do.
            Kind::Text => leaf.i32(6, 0).nested(10, union(1, Struct::new())),
            Kind::Moment => {
                let micros = union(2, Struct::new());
                let about = Struct::new().bool(1, true).nested(2, micros);
                leaf.i32(6, 10).nested(10, union(8, about))
            }
            Kind::Nothing => leaf.nested(10, union(11, Struct::new())),
            Kind::Whole | Kind::Number | Kind::Truth => leaf,
        }
    };
    let schema = std::iter::once(root).chain(columns.iter().map(leaf));
    Struct::new()
        .i32(1, 1)
        .structs(2, schema.collect())
        .i64(3, rows as i64)
        .structs(4, groups)
        .text(6, "bancada")
}

/// One of several: a struct with one field.
fn union(which: i16, value: Struct) -> Struct {
    Struct::new().nested(which, value)
}
