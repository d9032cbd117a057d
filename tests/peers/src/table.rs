//! Prints one aligned row for each measurement, with its ratio to the other side.

use crate::samples::Figure;

pub(crate) fn title(text: &str) {
    println!("\n== {text}");
}

pub(crate) fn note(text: &str) {
    println!("   {text}");
}

/// The names of the columns that [`row`] prints.
pub(crate) fn head(what: &str) {
    println!(
        "{what:<44} {:>9} {:>10} {:>9} {:>9} {:>9}",
        "count", "per s", "p50 ms", "p99 ms", "max ms"
    );
}

pub(crate) fn row(what: &str, figure: &Figure, remark: &str) {
    let Figure { count, per_second, p50, p99, max, failed } = figure;
    let failed = if *failed > 0 { format!("  {failed} FAILED") } else { String::new() };
    println!(
        "{what:<44} {count:>9} {per_second:>10.0} {p50:>9.2} {p99:>9.2} {max:>9.1}  {remark}{failed}"
    );
}
