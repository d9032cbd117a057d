//! Looks for damage in the file of a SQLite database. Mends nothing.

use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::sqlx::{self, ConnectOptions as _, Connection as _, Row as _};
use store::Error;

use crate::options::Options;
use crate::pools::{sqlite_settings, unopened};

/// What SQLite answers about a file in which it finds nothing wrong.
const WHOLE: &str = "ok";
/// The primary codes of a file that is damaged, and of one that is no database.
const DAMAGED: [u32; 2] = [11, 26];

/// The first damage that SQLite finds in the file at this URL; none in a file that is whole, and for
/// other databases. It reads every page of the file, and does not compare indexes with their tables.
///
/// # Errors
/// [`Error::Unavailable`] when the file cannot be opened or read.
pub async fn damage(url: &str) -> Result<Option<String>, Error> {
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    if !url.starts_with("sqlite:") || in_memory {
        return Ok(None);
    }
    let settings = sqlite_settings(url, &Options::default())?.create_if_missing(false);
    match quick_check(&settings).await {
        Ok(answer) if answer == WHOLE => Ok(None),
        Ok(answer) => Ok(Some(without_title(&answer))),
        Err(error) if is_damage(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(unopened(&settings, error)),
    }
}

async fn quick_check(settings: &SqliteConnectOptions) -> Result<String, sqlx::Error> {
    let mut connection = settings.connect().await?;
    let row = sqlx::raw_sql("PRAGMA quick_check(1)").fetch_one(&mut connection).await;
    let answer = row.and_then(|row| row.try_get(0));
    // The answer counts, also where the connection does not close in order.
    drop(connection.close().await);
    answer
}

/// Without the line that names the database `main`.
fn without_title(answer: &str) -> String {
    let lines: Vec<_> = answer.lines().filter(|line| !line.starts_with("***")).collect();
    lines.join("; ")
}

fn is_damage(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(reply) = error else { return false };
    let code = reply.code().and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| DAMAGED.contains(&(code & 0xff)))
}
