//! `staunch events`: follows what happens to instances, or shows what has happened.

mod stream;

use std::time::Duration;

use chassis::{Clock as _, SystemClock};
use clap::Args;
use model::{Backoff, InvalidTimestamp, Timestamp};
use serde_json::Value;

use crate::client::{self, ClientArgs};
use crate::failure::Kind;
use crate::output::{Format, text};
use crate::{Failure, say};
use stream::{Event, Stream};

/// The pauses before a broken connection is opened again, and how often in a row that is tried.
const PAUSES: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(10));
const TRIES_MAX: u32 = 60;
/// The names of events.
const KINDS: [&str; 5] = ["started", "suspended", "finished", "faulted", "cancelled"];

#[derive(Args, Debug)]
pub(crate) struct EventsArgs {
    /// Only of these definitions
    #[arg(long, value_name = "ID")]
    definition: Vec<String>,
    /// Only of these instances
    #[arg(long, value_name = "ID")]
    instance: Vec<String>,
    /// Only of instances with these correlation ids
    #[arg(long, value_name = "ID")]
    correlation: Vec<String>,
    /// Only these events: started, suspended, finished, faulted, cancelled
    #[arg(long = "type", value_name = "NAME", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Where to begin: start, now, after the event of a number, at a time, or a time ago such as 2h
    #[arg(long, value_name = "PLACE")]
    from: Option<String>,
    /// Ends after the events that are there; begins at the oldest unless --from says otherwise
    #[arg(long)]
    replay: bool,
    #[command(flatten)]
    client: ClientArgs,
}

/// Prints an event a line, until the end or an interrupt. A connection that breaks is opened again, and
/// goes on after the last event.
///
/// # Errors
/// The refusal of the server; unavailable if it does not answer for long.
pub(crate) async fn run(mut args: EventsArgs, format: Format) -> Result<(), Failure> {
    let client = args.client.client()?;
    let began = SystemClock.now();
    let mut path = path(&args, began)?;
    let (mut last, mut tries) = (None, 0);
    loop {
        let broken = match Stream::open(&client, &path, last.as_deref()).await {
            Ok(mut stream) => loop {
                match stream.next().await {
                    Ok(Some(event)) if event.name == "end" => {
                        if args.replay && event.is_of_replay() {
                            return Ok(());
                        }
                        break Failure::unavailable(text(&event.data, "reason"));
                    }
                    Ok(Some(event)) => {
                        if last.is_none() {
                            begins(args.from.as_deref(), &event)?;
                        }
                        (last, tries) = (event.id.clone().or(last), 0);
                        show(&event, format)?;
                    }
                    Ok(None) => break Failure::unavailable("the connection ended"),
                    Err(failure) => break failure,
                }
            },
            Err(failure) if failure.kind != Kind::Unavailable || last.is_none() && tries == 0 => {
                return Err(failure);
            }
            Err(failure) => failure,
        };
        tries += 1;
        if tries > TRIES_MAX {
            return Err(broken);
        }
        if last.is_none() && begins_now(&args) {
            // Without an event there is no place to go on from, and what happens until the next
            // connection would be left out.
            args.from = Some(began.to_string());
            path = self::path(&args, began)?;
        }
        say::message(&format!("{}; connecting again", broken.message));
        tokio::time::sleep(PAUSES.after(tries, 0)).await;
    }
}

/// Whether only events are wanted that are still to come.
fn begins_now(args: &EventsArgs) -> bool {
    !args.replay && matches!(args.from.as_deref(), None | Some("now"))
}

/// Checks the name of an event, of which the server knows no others.
fn known(kind: &str) -> Result<(), Failure> {
    if KINDS.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
        return Ok(());
    }
    let names = KINDS.join(", ");
    Err(Failure::usage(format!("--type {kind:?} is no event: use {names}")))
}

/// The address of the stream.
fn path(args: &EventsArgs, now: Timestamp) -> Result<String, Failure> {
    let lists = [
        ("definition", "definitionId", &args.definition),
        ("instance", "instanceId", &args.instance),
        ("correlation", "correlationId", &args.correlation),
        ("type", "type", &args.kinds),
    ];
    let mut query: Vec<(&str, String)> = Vec::new();
    for (option, name, all) in lists {
        if all.iter().any(String::is_empty) {
            return Err(Failure::usage(format!(
                "--{option} is empty: give it a value, or leave it out for all events"
            )));
        }
        query.extend(all.iter().map(|one| (name, one.clone())));
    }
    args.kinds.iter().try_for_each(|kind| known(kind))?;
    if let Some(from) = &args.from {
        query.push(("after", place(from, now)?));
    }
    if args.replay {
        query.push(("until", "now".to_owned()));
    }
    let query: Vec<_> =
        query.iter().map(|(name, value)| format!("{name}={}", client::segment(value))).collect();
    Ok(format!("/events?{}", query.join("&")))
}

/// A place in the stream, as the server reads it.
fn place(from: &str, now: Timestamp) -> Result<String, Failure> {
    let is_known = ["start", "now"].contains(&from) || from.parse::<u64>().is_ok();
    let time = Timestamp::parse(from);
    if is_known || time.is_ok() {
        return Ok(from.to_owned());
    }
    if let Some(beyond) = time.err().filter(InvalidTimestamp::is_out_of_range) {
        return Err(Failure::usage(format!("--from {beyond}")));
    }
    let Ok(ago) = model::span::parse(from) else {
        return Err(Failure::usage(format!(
            "--from {from:?} is no place: write start, now, the number of an event, a time such as \
             2026-01-31T08:00:00Z, or a time ago such as 2h"
        )));
    };
    let ago = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
    Ok(Timestamp::from_millis(now.as_millis().saturating_sub(ago)).to_string())
}

/// Checks the first event of a stream that begins after the event `from`.
///
/// # Errors
/// When there is no such event yet.
fn begins(from: Option<&str>, event: &Event) -> Result<(), Failure> {
    let from = from.and_then(|from| from.parse::<u64>().ok());
    let last = event.data.get("last").and_then(Value::as_u64).filter(|_| event.name == "gap");
    match (from, last) {
        (Some(from), Some(last)) if from > last => Err(Failure::new(
            Kind::NotFound,
            format!(
                "there is no event {from} yet: the last is {last}. Write --from start for all that \
                 are kept"
            ),
        )),
        _ => Ok(()),
    }
}

fn show(event: &Event, format: Format) -> Result<(), Failure> {
    let Some(id) = &event.id else {
        // About the stream itself: what is missing, and why.
        say::message(&format!("{}: {}", event.name, text(&event.data, "reason")));
        return Ok(());
    };
    if format == Format::Json {
        let mut line = event.data.clone();
        line["number"] = id.parse::<u64>().map_or_else(|_| id.clone().into(), Value::from);
        return say::json_line(&line);
    }
    say::data(&line(id, event))
}

/// An event for people: number, time, name, definition, version, instance, and what else there is.
fn line(id: &str, event: &Event) -> String {
    let of = |name: &str| text(&event.data, name);
    let (definition, version) = (of("definitionId"), of("definitionVersion"));
    let mut line = format!(
        "{id}  {}  {:9}  {definition} {version}  {}",
        of("time"),
        event.name,
        of("workflowInstanceId")
    );
    if let Some(correlation_id) = event.data.get("correlationId").and_then(Value::as_str) {
        line.push_str(&format!("  {correlation_id}"));
    }
    let incidents = event.data.get("incidents").and_then(Value::as_array);
    for incident in incidents.into_iter().flatten().filter_map(Value::as_str) {
        line.push_str(&format!("  {incident}"));
    }
    say::one_line(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: EventsArgs,
    }

    fn asked(line: &[&str]) -> Result<String, Failure> {
        let line = Line::parse_from([&["events"], line].concat());
        path(&line.args, Timestamp::from_millis(1_767_225_600_000))
    }

    #[test]
    fn filters_and_places_are_those_of_the_server() {
        let check = |line: &[&str], expected: &str| {
            assert_eq!(asked(line).unwrap(), format!("/events?{expected}"));
        };
        check(&[], "");
        check(
            &["--definition", "a b", "--definition", "c", "--type", "finished,faulted"],
            "definitionId=a%20b&definitionId=c&type=finished&type=faulted",
        );
        check(
            &["--instance", "i", "--correlation", "o-1", "--replay"],
            "instanceId=i&correlationId=o-1&until=now",
        );
        check(&["--from", "12"], "after=12");
        check(&["--from", "2h"], "after=2025-12-31T22%3A00%3A00.000Z");
        check(&["--from", "2026-01-31T08:00:00Z"], "after=2026-01-31T08%3A00%3A00Z");
        let failure = asked(&["--from", "yesterday"]).unwrap_err();
        assert_eq!(failure.kind, Kind::Usage);
        for option in ["--definition", "--instance", "--correlation", "--type"] {
            let empty = asked(&[option, ""]).unwrap_err();
            assert_eq!(empty.kind, Kind::Usage);
            let expected = format!("{option} is empty: give it a value, or leave it out");
            assert!(empty.message.starts_with(&expected), "{empty}");
        }
        check(&["--type", "Finished"], "type=Finished");
        let bogus = asked(&["--type", "finished,bogus"]).unwrap_err();
        assert_eq!(bogus.kind, Kind::Usage);
        assert!(bogus.message.contains("\"bogus\" is no event: use started"), "{bogus}");
        let beyond = asked(&["--from", "9999-12-31T23:59:59Z"]).unwrap_err();
        assert_eq!(beyond.kind, Kind::Usage);
        let limit = "the latest time is 9999-12-30T22:00:00.999Z";
        assert!(beyond.to_string().contains(limit), "{beyond}");
    }

    /// The first connection ends before an event has come: the second one begins where it began.
    #[tokio::test]
    async fn what_happens_between_two_connections_is_asked_for() {
        const ANSWERS: [&str; 2] = [
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: open\n\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        ];
        // Another test may have done it.
        drop(rustls::crypto::ring::default_provider().install_default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let answering = async {
            let mut asked = Vec::new();
            for answer in ANSWERS {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut bytes = vec![0; 4_096];
                let read = socket.read(&mut bytes).await.unwrap();
                let request = String::from_utf8_lossy(&bytes[..read]).into_owned();
                asked.push(request.lines().next().unwrap_or_default().to_owned());
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
            asked
        };
        let line = ["events", "--server", &server, "--definition", "a", "--definition", "b"];
        let following = run(Line::parse_from(line).args, Format::Table);
        let (ended, asked) = tokio::join!(following, answering);
        assert_eq!(ended.unwrap_err().kind, Kind::NotFound);
        let both = "GET /elsa/api/events?definitionId=a&definitionId=b";
        assert_eq!(asked[0], format!("{both} HTTP/1.1"));
        assert!(asked[1].starts_with(&format!("{both}&after=20")), "{}", asked[1]);
    }

    #[test]
    fn an_event_that_there_is_not_yet_is_no_place_to_begin() {
        let data =
            json!({"reason": "there is no event 99 yet", "from": 100, "to": null, "last": 7});
        let gap = Event { id: None, name: "gap".into(), data };
        let failure = begins(Some("99"), &gap).unwrap_err();
        assert_eq!(failure.kind, Kind::NotFound);
        assert!(failure.message.starts_with("there is no event 99 yet: the last is 7"));
        for from in [None, Some("start"), Some("7")] {
            assert!(begins(from, &gap).is_ok(), "{from:?}");
        }
        let old = Event { data: json!({"reason": "too old", "from": 1, "to": 3}), ..gap };
        assert!(begins(Some("0"), &old).is_ok());
    }

    #[test]
    fn a_line_says_what_happened_to_which_instance() {
        let data = json!({"time": "2026-01-31T08:00:00.000Z", "definitionId": "order",
            "definitionVersion": 3, "workflowInstanceId": "i", "correlationId": "o-1",
            "incidents": ["no\nstock"]});
        let event = Event { id: Some("7".into()), name: "faulted".into(), data };
        let expected = "7  2026-01-31T08:00:00.000Z  faulted    order 3  i  o-1  no\\nstock";
        assert_eq!(line("7", &event), expected);
    }
}
