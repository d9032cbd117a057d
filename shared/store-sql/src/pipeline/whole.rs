//! A batch that consists only of bursts, as one statement, on PostgreSQL: one round trip that also
//! commits, instead of one for each table. All other batches use `apply`.

use std::collections::BTreeSet;

use store::Commit;

use super::apply;
use super::job::{Head, Work, WorkEnd};
use crate::cell::{Cell, Row};
use crate::database::Database;
use crate::failure::Failure;
use crate::joined::{PartRows, joined_call};
use crate::statements as sql;

/// A batch that can be written as one statement.
pub(crate) struct Whole<'a> {
    works: &'a [&'a Work],
    published: &'a [Row],
    /// The commands that the works settle, each with its instance.
    settled: Vec<Row>,
}

impl<'a> Whole<'a> {
    /// The batch, if it holds only bursts that use no other tables than every burst does.
    pub(crate) fn of(works: &'a [&'a Work], published: &'a [Row]) -> Option<Self> {
        let is_plain = |work: &&Work| {
            matches!(work.head, Head::Start(_) | Head::Update { .. })
                && work.activation_key.is_none()
                && work.starts.is_empty()
                && work.commands.is_empty()
                && work.waits.is_empty()
                && work.tokens.is_empty()
                && work.touched.is_empty()
                // A value that is set again would collide with the one that is removed.
                && work.cleared.is_none()
                // A new bookmark may replace a burned one, but within one statement it would still
                // collide with it.
                && (work.burned.is_empty() || work.created.is_empty())
        };
        if works.is_empty() || !works.iter().all(is_plain) {
            return None;
        }
        let owned = |work: &&Work| {
            let owner = Cell::text(work.id.as_str());
            let with_owner = |row: &Row| [row.as_slice(), std::slice::from_ref(&owner)].concat();
            work.settles.iter().map(with_owner).collect::<Vec<_>>()
        };
        let settled = works.iter().flat_map(owned).collect();
        Some(Self { works, published, settled })
    }

    /// Writes it; returns the end of each work, in order.
    pub(crate) async fn write(&self, database: &Database) -> Result<Vec<WorkEnd>, Failure> {
        let (heads, rest) = (self.heads(), self.rest());
        let text = database.texts.of(&heads, &rest);
        let arguments = joined_call(heads.into_iter().chain(rest))?;
        let won: BTreeSet<_> = database.at_once(&text, arguments).await?.into_iter().collect();
        let lost = self.works.iter().filter(|work| !won.contains(work.id.as_str()));
        let gone = match lost.clone().any(|work| work.gone_row().is_some()) {
            true => apply::gone(&mut database.read().await?, lost.copied()).await?,
            false => BTreeSet::new(),
        };
        let answer = |work: &&Work| match won.contains(work.id.as_str()) {
            true => WorkEnd::Committed(Commit::Done { waiting: Vec::new() }),
            false if gone.contains(work.id.as_str()) => work.gone(),
            false => WorkEnd::Committed(Commit::Conflict),
        };
        Ok(self.works.iter().map(answer).collect())
    }

    fn heads(&self) -> Vec<PartRows<'_>> {
        let (mut begun, mut moved) = (Vec::new(), Vec::new());
        for work in self.works {
            match &work.head {
                Head::Start(row) => begun.push(row),
                Head::Update { row, .. } => moved.push(row),
                _ => {}
            }
        }
        present([(&sql::BEGUN, begun), (&sql::MOVED, moved)])
    }

    fn rest(&self) -> Vec<PartRows<'_>> {
        let all =
            |rows: fn(&Work) -> &[Row]| self.works.iter().flat_map(|work| rows(work)).collect();
        present([
            (&sql::BURNED, all(|work| &work.burned)),
            (&sql::CREATED, all(|work| &work.created)),
            (&sql::NOTED, all(|work| work.journal.as_slice())),
            (&sql::VALUED, all(|work| &work.values)),
            (&sql::UNVALUED, all(|work| &work.unvalued)),
            (&sql::SETTLED, self.settled.iter().collect()),
            (&sql::TOLD, all(|work| &work.outbox)),
            (&sql::PUBLISHED, self.published.iter().collect()),
        ])
    }
}

fn present<'a, const N: usize>(parts: [PartRows<'a>; N]) -> Vec<PartRows<'a>> {
    parts.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}
