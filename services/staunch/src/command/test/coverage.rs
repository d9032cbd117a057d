//! The activities and connections that tests have run, with their places in files.

use std::collections::BTreeSet;

use engine::Program;
use model::Definition;
use rehearsal::Coverage;

use crate::document::{Document, vocabulary};
use crate::output;
use crate::{Failure, say};

/// The coverage of a definition of which nothing has run.
pub(super) fn of(document: &Document, definition: &Definition, program: &Program) -> Coverage {
    let file = document.path.display().to_string();
    let all = vocabulary().activities(&document.tree);
    let own = program.activities().filter(|(id, _, _)| all.contains_key(id.as_str()));
    let activities: BTreeSet<(usize, usize, String, String)> = own
        .map(|(id, _, name)| {
            let mark = all.get(id.as_str()).map(|tree| tree.mark).unwrap_or_default();
            let shown = name.filter(|name| *name != id.as_str());
            let shown = shown.map_or(id.to_string(), |name| format!("{name} ({id})"));
            (mark.line, mark.column, id.to_string(), format!("{file}:{mark}: {shown}"))
        })
        .collect();
    let activities = activities.into_iter().map(|(_, _, id, line)| (id, line)).collect();
    Coverage::new(file, activities, definition)
}

/// Prints a table with a total, and every part that no test has run.
pub(super) fn print(coverages: &[Coverage]) -> Result<(), Failure> {
    let share = |(run, all): (usize, usize)| format!("{run}/{all}");
    let mut rows = Vec::new();
    let mut total = [(0, 0); 2];
    for coverage in coverages {
        let counts = coverage.counts();
        rows.push(vec![coverage.file().to_owned(), share(counts[0]), share(counts[1])]);
        for (sum, count) in total.iter_mut().zip(counts) {
            *sum = (sum.0 + count.0, sum.1 + count.1);
        }
    }
    rows.push(vec!["total".to_owned(), share(total[0]), share(total[1])]);
    say::data("")?;
    output::table(&["FILE", "ACTIVITIES", "CONNECTIONS"], &rows)?;
    for coverage in coverages {
        for line in coverage.missed_activities() {
            say::data(&format!("no test runs {line}"))?;
        }
        for line in coverage.missed_connections() {
            say::data(&format!("no test follows {}: {line}", coverage.file()))?;
        }
    }
    Ok(())
}
