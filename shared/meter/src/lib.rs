//! Every metric of Staunch. `all` declares them, one file for each subject; a metric exists only by
//! its declaration, which is also its row in `docs/metrics.md`.
//!
//! A series whose labels are declared with their values exists from the start of the process, with
//! the value 0. To count is one addition to an atomic number: no lock is taken and nothing is
//! allocated, because the series are made beforehand. Only labels with open values (routes, tasks)
//! need a look-up in a table.
//!
//! To add a metric: 1. a declaration in the file of its subject, 2. `UPDATE_EXPECT=1` for the test
//! that compares `docs/metrics.md`, 3. a call where the thing happens. Values that something else
//! already counts are copied at each scrape, by [`at_scrape`].

mod all;
mod declare;
mod declared;
mod instrument;
mod scrape;
mod series;
mod table;

pub use all::*;
pub use declared::{Declared, Kind, Label, Unit, Values};
pub use instrument::{Counter, Gauge, Histogram};
pub use scrape::{at_scrape, declarations, text};
pub use table::{TABLE, markdown};
