//! A batch of nothing but bursts as one statement, on PostgreSQL: a round trip and a commit in the
//! place of one for each table. What else a batch may hold goes the longer way of `apply`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use store::Commit;

use super::job::{Answer, Head, Work};
use crate::connect::Database;
use crate::failure::Failure;
use crate::sql::{Cell, Part, Row, joined, joined_call};
use crate::statements as sql;

/// The texts by the parts that they have: those without rows are left out.
#[derive(Debug, Default)]
pub(crate) struct Texts(Mutex<BTreeMap<Vec<&'static str>, Arc<str>>>);

/// A batch that can be written as one statement.
pub(crate) struct Whole<'a> {
    works: &'a [&'a Work],
    published: &'a [Row],
    /// What the works settle, with the instance of each.
    settled: Vec<Row>,
}

type Rows<'a> = (&'static Part, Vec<&'a Row>);

impl<'a> Whole<'a> {
    /// The batch, where all of it is bursts that touch the tables of every burst and no other.
    pub(crate) fn of(works: &'a [&'a Work], published: &'a [Row]) -> Option<Self> {
        let is_plain = |work: &&Work| {
            matches!(work.head, Head::Start(_) | Head::Update { .. })
                && work.activation_key.is_none()
                && work.starts.is_empty()
                && work.commands.is_empty()
                && work.waits.is_empty()
                && work.tokens.is_empty()
                // A new bookmark may take the place of a burned one; within one statement it would
                // not know that it is free.
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

    /// Writes it; each work's answer, in order.
    pub(crate) async fn write(&self, database: &Database) -> Result<Vec<Answer>, Failure> {
        let (heads, rest) = (self.heads(), self.rest());
        let text = database.texts.of(&heads, &rest);
        let arguments = joined_call(heads.into_iter().chain(rest))?;
        let won: BTreeSet<_> = database.at_once(&text, arguments).await?.into_iter().collect();
        let answer = |work: &&Work| match won.contains(work.id.as_str()) {
            true => Answer::Committed(Commit::Done { waiting: Vec::new() }),
            false => Answer::Committed(Commit::Conflict),
        };
        Ok(self.works.iter().map(answer).collect())
    }

    fn heads(&self) -> Vec<Rows<'_>> {
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

    fn rest(&self) -> Vec<Rows<'_>> {
        let all =
            |rows: fn(&Work) -> &[Row]| self.works.iter().flat_map(|work| rows(work)).collect();
        present([
            (&sql::BURNED, all(|work| &work.burned)),
            (&sql::CREATED, all(|work| &work.created)),
            (&sql::NOTED, all(|work| work.journal.as_slice())),
            (&sql::SETTLED, self.settled.iter().collect()),
            (&sql::TOLD, all(|work| &work.outbox)),
            (&sql::PUBLISHED, self.published.iter().collect()),
        ])
    }
}

fn present<'a, const N: usize>(parts: [Rows<'a>; N]) -> Vec<Rows<'a>> {
    parts.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}

impl Texts {
    fn of(&self, heads: &[Rows<'_>], rest: &[Rows<'_>]) -> Arc<str> {
        let parts = |of: &[Rows<'_>]| of.iter().map(|(part, _)| *part).collect::<Vec<_>>();
        let names = heads.iter().chain(rest).map(|(part, _)| part.name).collect();
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.entry(names).or_insert_with(|| joined(&parts(heads), &parts(rest)).into());
        Arc::clone(text)
    }
}
