//! `staunch migrate`: brings the database's schema up to date.

use chassis::Settings;
use clap::Args;
use serde_json::json;

use crate::output::{self, Format};
use crate::{Failure, database, say};

#[derive(Args, Debug)]
pub(crate) struct MigrateArgs {
    /// Changes nothing; fails if a migration is missing, and names it, or if a SQLite file is damaged
    #[arg(long)]
    pub(crate) check: bool,
    /// Changes nothing; shows the statements of the missing migrations, and the locks that they take
    #[arg(long, conflicts_with = "check")]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) settings: chassis::Args,
}

/// Applies the migrations that are missing, or only names them.
///
/// # Errors
/// When the database does not answer, or a migration fails; with `check`, when one is missing, or when
/// a SQLite file is damaged.
pub(crate) async fn run(check: bool, settings: &Settings, format: Format) -> Result<(), Failure> {
    let url = &settings.database_url;
    if check {
        if let Some(damage) = store_sql::damage(url).await? {
            return Err(damaged(url, &damage));
        }
        let missing = store_sql::pending_migrations(url).await?;
        print("missing", &missing, format)?;
        return match missing.len() {
            0 => {
                say::message("the schema is up to date");
                Ok(())
            }
            count => {
                let missing = missing_text(count);
                Err(Failure::failed(format!("{missing}; run `staunch migrate`")))
            }
        };
    }
    let applied = store_sql::migrate(url).await?;
    print("applied", &applied, format)?;
    let count = applied.len();
    let noun = if count == 1 { "migration" } else { "migrations" };
    say::message(&format!("{count} {noun} applied; the schema is up to date"));
    Ok(())
}

/// Shows the statements of the missing migrations, and the locks that they take.
///
/// # Errors
/// When the database does not answer, or its schema is too new.
pub(crate) async fn plan(settings: &Settings, format: Format) -> Result<(), Failure> {
    let planned = store_sql::plan(&settings.database_url).await?;
    if format == Format::Json {
        let step = |step: &store_sql::Planned| {
            let statements = step.statements.iter();
            let statements = statements.map(|one| json!({"sql": one.sql, "lock": one.lock}));
            json!({"name": step.name, "statements": statements.collect::<Vec<_>>()})
        };
        return output::json(&json!({ "plan": planned.iter().map(step).collect::<Vec<_>>() }));
    }
    for step in &planned {
        say::data(&format!("-- {}", step.name))?;
        for statement in &step.statements {
            say::data(&format!("-- lock: {}", statement.lock))?;
            say::data(&format!("{};", statement.sql))?;
        }
    }
    match planned.len() {
        0 => say::message("the schema is up to date"),
        count => say::message(&format!(
            "{}; `staunch migrate` applies all in one transaction",
            missing_text(count)
        )),
    }
    Ok(())
}

/// A file that is put beside the `-wal` of another one is the usual reason: SQLite takes the pages in it
/// for the file's own.
fn damaged(url: &str, damage: &str) -> Failure {
    let file = database::file(url).unwrap_or_default();
    let file = file.display();
    Failure::failed(format!(
        "the SQLite file {file} is damaged: {damage}; restore it again: stop all nodes, remove {file}, \
         {file}-wal and {file}-shm, and only then put the copy in its place"
    ))
}

fn missing_text(count: usize) -> String {
    match count {
        1 => "1 migration is missing".to_owned(),
        count => format!("{count} migrations are missing"),
    }
}

fn print(what: &str, names: &[String], format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => output::json(&json!({ what: names })),
        Format::Table => names.iter().try_for_each(|name| say::data(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::missing_text;

    #[test]
    fn one_is_not_several() {
        assert_eq!(missing_text(1), "1 migration is missing");
        assert_eq!(missing_text(26), "26 migrations are missing");
    }
}
