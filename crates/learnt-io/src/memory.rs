//! Room for tables: refused before it is taken if there is not enough.

use learnt_core::context::Context;
use learnt_core::error::{Code, Error, Result};

/// Refuses columns that are about to grow beyond what there is: so many cells are there already, and
/// may become twice as many at the next row.
pub(crate) fn growing(rows: usize, columns: usize, run: &Context) -> Result<()> {
    let bytes = (rows as u64).saturating_mul(8).saturating_mul(columns as u64);
    run.claim(bytes, &format!("a table of more than {rows} rows and {columns} columns"))
}

/// Zeros for a table of this size.
pub(crate) fn table(rows: usize, columns: usize, run: &Context) -> Result<Vec<f64>> {
    let refused = || {
        let message = format!("no memory for a table of {rows} rows and {columns} columns");
        Error::new(Code::Memory, message).hint("read fewer columns, or fit with --stream")
    };
    let count = rows.checked_mul(columns).ok_or_else(refused)?;
    let bytes = (count as u64).checked_mul(8).ok_or_else(refused)?;
    run.claim(bytes, &format!("a table of {rows} rows and {columns} columns"))?;
    let mut probe: Vec<f64> = Vec::new();
    probe.try_reserve_exact(count).map_err(|_| refused())?;
    drop(probe);
    Ok(vec![0.0; count])
}
