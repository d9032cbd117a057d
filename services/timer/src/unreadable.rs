//! Moves rows that cannot be read to the dead letters, with the reason and the bytes. The sweep,
//! and the scan for schedules, do this after reading many rows.

use model::{InstanceId, Timestamp, limits};
use protocol::{Headers, Message, header, subject};
use store::{OutboxRow, Unreadable};

use crate::{Context, Error};

/// Moves the rows that this process could not read; returns the number of rows that were moved. The
/// outbox publishes their letters.
///
/// # Errors
/// When the database fails; the rows that are left are found again by the next read of them.
pub(crate) async fn bury(cx: &Context, now: Timestamp) -> Result<u64, Error> {
    let (mut buried, mut failed) = (0, Ok(()));
    for row in cx.store.unreadable() {
        cx.metrics.unreadable(row.table.name());
        match cx.store.bury_unreadable(&row, letter(&row, now)).await {
            Ok(true) => {
                tracing::error!(
                    table = row.table.name(),
                    id = row.id,
                    reason = row.reason,
                    "a row that cannot be read is moved to the dead letters"
                );
                buried += 1;
            }
            Ok(false) => {}
            Err(error) => failed = Err(Error::Store(error)),
        }
    }
    failed.map(|()| buried)
}

/// The dead letter of a row: on `staunch.dead.row.<table>.<id>`, with as many of its bytes as can
/// be kept.
fn letter(row: &Unreadable, now: Timestamp) -> OutboxRow {
    let table = row.table.name();
    let id = format!("{table}.{}.unreadable", row.id);
    let end = row.bytes.len().min(limits::COMMAND_BYTES_MAX);
    let payload = row.bytes.get(..end).unwrap_or_default().to_vec();
    let mut headers = Headers::new();
    headers.insert(header::MESSAGE_ID.to_owned(), id.clone());
    headers.insert(header::REASON.to_owned(), row.reason.replace(char::is_control, " "));
    let subject = subject::dead(&format!("row.{table}.{}", subject::token(&row.id)));
    let message = Message { subject, headers, payload };
    OutboxRow { id, instance_id: InstanceId::default(), message, created_at: now }
}
