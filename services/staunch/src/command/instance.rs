//! `staunch instance …`: lists, shows, watches, cancels and resumes instances, and operates on them.

mod condition;
mod operate;

use clap::{Args, Subcommand, ValueEnum};
use model::limits::PAGE_ITEMS_MAX;
use model::{InstanceId, SubStatus, Timestamp};
use serde_json::{Value, json};

use crate::client::{Client, ClientArgs};
use crate::command::run::{ended, output_of};
use crate::failure::Kind;
use crate::journal::{self, Journal};
use crate::output::{self, Format};
use crate::{Failure, input, say};
use condition::Condition;

/// The server counts up to this many instances.
const COUNTED_MAX: u64 = 100_000;

#[derive(Args, Debug)]
pub(crate) struct InstanceArgs {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Lists instances, newest first
    Ls(ListArgs),
    /// Shows one instance
    Get {
        /// Its id
        id: String,
    },
    /// Follows the journal of one instance until its end
    Watch {
        /// Its id
        id: String,
    },
    /// Cancels one instance
    Cancel {
        /// Its id
        id: String,
        /// The reason, for the instance's journal
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Resumes a waiting instance
    Resume {
        /// Its id
        id: String,
        /// The bookmark; required if several are open
        #[arg(long, value_name = "ID")]
        bookmark: Option<String>,
        /// The input: a JSON object, or @FILE with one
        #[arg(short, long, default_value = "{}", value_name = "JSON|@FILE")]
        input: String,
    },
    #[command(flatten)]
    Operate(operate::Operation),
}

#[derive(Args, Debug)]
struct ListArgs {
    /// Of this definition
    #[arg(long, value_name = "ID")]
    definition: Option<String>,
    /// Pending, Executing, Suspended, Finished, Cancelled or Faulted
    #[arg(long, value_name = "STATUS")]
    status: Option<SubStatus>,
    /// With this correlation id
    #[arg(long, value_name = "ID")]
    correlation_id: Option<String>,
    /// Part of an id, a name or a correlation id
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// With a searchable variable that fulfils this: 'Amount>=100', 'Customer=Muster AG',
    /// 'Customer^=Mu' (begins with). Repeat it for more; the operators are = != > >= < <= ^=
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Created at this time or later, such as 2026-03-28T23:30:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Created at this time or before
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Timestamp>,
    /// The time that --since and --until compare
    #[arg(long, value_enum, default_value_t, value_name = "TIME")]
    by: TimeOf,
    /// At most this many
    #[arg(
        long,
        default_value_t = 50,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=PAGE_ITEMS_MAX)
    )]
    limit: u64,
}

/// A time of an instance.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum TimeOf {
    /// When it was created
    #[default]
    Created,
    /// When it changed last
    Updated,
    /// When it ended
    Finished,
}

impl TimeOf {
    /// Its name in the API.
    fn column(self) -> &'static str {
        match self {
            Self::Created => "CreatedAt",
            Self::Updated => "UpdatedAt",
            Self::Finished => "FinishedAt",
        }
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}

impl ListArgs {
    /// The request of the API that selects these instances.
    fn request(&self) -> Value {
        let mut body = json!({"page": 0, "pageSize": self.limit});
        let members = [
            ("definitionId", self.definition.clone()),
            ("subStatus", self.status.map(|status| status.to_string())),
            ("correlationId", self.correlation_id.clone()),
            ("searchTerm", self.search.clone()),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                body[name] = json!(value);
            }
        }
        if !self.conditions.is_empty() {
            body["variableFilters"] = self.conditions.iter().map(Condition::body).collect();
        }
        let bounds = [("GreaterThanOrEqual", self.since), ("LessThanOrEqual", self.until)];
        let column = self.by.column();
        let times: Vec<_> = bounds
            .into_iter()
            .filter_map(|(operator, at)| Some((operator, at?)))
            .map(|(operator, at)| json!({"column": column, "operator": operator, "timestamp": at}))
            .collect();
        if !times.is_empty() {
            body["timestampFilters"] = json!(times);
        }
        body
    }
}

/// Runs one of the `instance` commands.
///
/// # Errors
/// The server's refusal; for `watch`, also an instance that ends faulted or cancelled.
pub(crate) async fn run(args: InstanceArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    match args.verb {
        Verb::Ls(filter) => list(&client, &filter, format).await,
        Verb::Get { id } => get(&client, &known(&id)?, format).await,
        Verb::Watch { id } => watch(&client, &known(&id)?, format).await,
        Verb::Cancel { id, reason } => {
            cancel(&client, &known(&id)?, reason.as_deref(), format).await
        }
        Verb::Resume { id, bookmark, input } => {
            let id = known(&id)?;
            let body = json!({"bookmarkId": bookmark, "input": input::parse(&input)?});
            let answer = client.post(&format!("/workflow-instances/{id}/resume"), &body).await?;
            output::json(&answer.body)
        }
        Verb::Operate(operation) => operate::run(&client, operation, format).await,
    }
}

fn known(id: &str) -> Result<InstanceId, Failure> {
    InstanceId::parse(id).map_err(|error| Failure::usage(error.to_string()))
}

async fn list(client: &Client, filter: &ListArgs, format: Format) -> Result<(), Failure> {
    let answer = client.post("/workflow-instances", &filter.request()).await?.body;
    if format == Format::Json {
        return output::json(&answer);
    }
    let items = answer.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    output::table(&["ID", "DEFINITION", "V", "STATUS", "INCIDENTS", "CREATED", "UPDATED"], &rows)?;
    let total = answer.get("totalCount").and_then(Value::as_u64).unwrap_or_default();
    let shown = u64::try_from(items.len()).unwrap_or(u64::MAX);
    if total > shown {
        let more = if total >= COUNTED_MAX { " or more" } else { "" };
        say::message(&format!("{shown} of {total}{more}; see more with --limit"));
    }
    Ok(())
}

fn row(item: &Value) -> Vec<String> {
    ["id", "definitionId", "version", "subStatus", "incidentCount", "createdAt", "updatedAt"]
        .map(|name| output::text(item, name))
        .to_vec()
}

async fn get(client: &Client, id: &InstanceId, format: Format) -> Result<(), Failure> {
    let instance = client.get(&format!("/workflow-instances/{id}")).await?;
    if format == Format::Json {
        return output::json(&instance);
    }
    let text = |name| output::text(&instance, name);
    let mut pairs = vec![
        ("id", text("id")),
        ("definition", format!("{} version {}", text("definitionId"), text("version"))),
        ("status", text("subStatus")),
        ("name", text("name")),
        ("correlation id", text("correlationId")),
        ("created", text("createdAt")),
        ("updated", text("updatedAt")),
        ("finished", text("finishedAt")),
        ("output", output_of(&instance).to_string()),
    ];
    let waits = list_of(&instance, "bookmarks");
    pairs.extend(waits.iter().map(|bookmark| ("waits at", place(bookmark))));
    let incidents = list_of(&instance, "incidents");
    pairs.extend(incidents.iter().map(|incident| ("incident", failed(incident))));
    output::pairs(&pairs)
}

fn list_of(instance: &Value, name: &str) -> Vec<Value> {
    let list = instance.pointer(&format!("/workflowState/{name}")).and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

fn place(bookmark: &Value) -> String {
    let text = |name| output::text(bookmark, name);
    match text("dueAt") {
        due if due.is_empty() => format!("{} {}", text("name"), text("id")),
        due => format!("{} {} until {due}", text("name"), text("id")),
    }
}

fn failed(incident: &Value) -> String {
    let text = |name| output::text(incident, name);
    let place = match text("activityId") {
        whole if whole.is_empty() => String::new(),
        activity => format!(" in {activity}"),
    };
    format!("{}{place}: {}", text("timestamp"), text("message"))
}

async fn watch(client: &Client, id: &InstanceId, format: Format) -> Result<(), Failure> {
    let print = |entry: &Value| match format {
        Format::Table => say::data(&journal::line(entry)),
        Format::Json => say::json_line(entry),
    };
    let status = Journal::of(client, id).follow(print, |_| false).await?;
    say::message(&format!("{id} is {status}"));
    ended(id, status)
}

async fn cancel(
    client: &Client,
    id: &InstanceId,
    reason: Option<&str>,
    format: Format,
) -> Result<(), Failure> {
    let path = format!("/cancel/workflow-instances/{id}");
    let answer = client.post(&path, &json!({"reason": reason})).await?.body;
    if answer.get("cancelled").and_then(Value::as_bool) == Some(false) {
        let status = output::text(&answer, "subStatus");
        return Err(Failure::new(Kind::Conflict, format!("{id} has ended before: it is {status}")));
    }
    output::done(format, &format!("{id} is cancelled"), &answer)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        list: ListArgs,
    }

    fn request(options: &str) -> Value {
        let words = ["ls"].into_iter().chain(options.split_whitespace());
        Line::try_parse_from(words).unwrap().list.request()
    }

    #[test]
    fn a_list_has_the_times_that_are_asked_for() {
        assert_eq!(request("--limit 7"), json!({"page": 0, "pageSize": 7}));
        let created = request("--definition order --since 2026-03-28T23:30:00Z");
        assert_eq!(
            created["timestampFilters"],
            json!([{"column": "CreatedAt", "operator": "GreaterThanOrEqual",
                "timestamp": "2026-03-28T23:30:00.000Z"}])
        );
        let finished = request("--until 2026-03-28T23:30:00+01:00 --by finished");
        assert_eq!(
            finished["timestampFilters"],
            json!([{"column": "FinishedAt", "operator": "LessThanOrEqual",
                "timestamp": "2026-03-28T22:30:00.000Z"}])
        );
        let wrong = Line::try_parse_from(["ls", "--since", "yesterday"]).err().unwrap();
        assert!(wrong.to_string().contains("yesterday"), "{wrong}");
    }
}
