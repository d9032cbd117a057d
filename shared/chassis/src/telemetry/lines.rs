//! Log lines as JSON: one object a line, in which each name appears once.
//!
//! First come the time, the level, the node and the module; then the message; then the fields of the
//! spans around the event, and its own, which take precedence.

use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// The members that every line has; a field of one of these names gets a prefix, unless it says the
/// same.
const OWN: [&str; 5] = ["timestamp", "level", "node", "target", "message"];
const PREFIX: &str = "field.";
/// The NATS client, which logs its numbers as texts.
const LOGS_NUMBERS_AS_TEXTS: &str = "async_nats";

/// The lines of one node.
pub(super) struct Lines {
    pub(super) node: String,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        cx: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut now = String::new();
        SystemTime.format_time(&mut Writer::new(&mut now))?;
        let mut line = Map::new();
        line.insert("timestamp".to_owned(), Value::from(now));
        line.insert("level".to_owned(), Value::from(event.metadata().level().as_str()));
        line.insert("node".to_owned(), Value::from(self.node.as_str()));
        line.insert("target".to_owned(), Value::from(event.metadata().target()));
        line.insert("message".to_owned(), Value::from(""));
        for span in cx.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            let extensions = span.extensions();
            let Some(fields) = extensions.get::<FormattedFields<N>>() else { continue };
            if let Ok(fields) = serde_json::from_str::<Map<String, Value>>(&fields.fields) {
                fields.into_iter().for_each(|(name, value)| put(&mut line, &name, value));
            }
        }
        let reads_numbers = event.metadata().target().starts_with(LOGS_NUMBERS_AS_TEXTS);
        event.record(&mut Members { line: &mut line, reads_numbers });
        writeln!(writer, "{}", Value::Object(line))
    }
}

fn put(line: &mut Map<String, Value>, name: &str, value: Value) {
    // The fields of `log`'s records say again what the line has.
    if name.starts_with("log.") {
        return;
    }
    if OWN.contains(&name) && line.get(name) == Some(&value) {
        return;
    }
    let name = if OWN.contains(&name) { format!("{PREFIX}{name}") } else { name.to_owned() };
    line.insert(name, value);
}

/// The members of a line, to which the fields of an event are added.
struct Members<'a> {
    line: &'a mut Map<String, Value>,
    /// Texts that are numbers become numbers.
    reads_numbers: bool,
}

impl Members<'_> {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        put(self.line, field.name(), value.into());
    }
}

impl Visit for Members<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        if field.name() == "message" {
            self.line.insert("message".to_owned(), Value::from(text));
        } else if let Some(number) = text.parse::<u64>().ok().filter(|_| self.reads_numbers) {
            self.add(field, number);
        } else {
            self.add(field, text);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    /// A number stays a number, whatever type the code has for it.
    fn record_u128(&mut self, field: &Field, value: u128) {
        self.add(field, u64::try_from(value).unwrap_or(u64::MAX));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.add(field, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt;
    use tracing_subscriber::fmt::format::JsonFields;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The text of the lines that the code logs.
    fn logged(code: impl FnOnce()) -> String {
        let sink = Sink::default();
        let to = sink.clone();
        let lines = Lines { node: "n1".to_owned() };
        let layer = fmt::layer().event_format(lines).fmt_fields(JsonFields::new());
        let layer = layer.with_writer(move || to.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), code);
        let bytes = sink.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_has_the_node_the_fields_of_its_spans_and_each_name_once() {
        let text = logged(|| {
            let span = tracing::info_span!("burst", instance = "i1", trace = "t1");
            span.in_scope(|| tracing::info!(target: "a::b", target = "x", ms = 5_u128, "done"));
        });
        assert_eq!(text.matches("\"target\"").count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&line["node"], &line["target"]), (&"n1".into(), &"a::b".into()));
        assert_eq!((&line["message"], &line["level"]), (&"done".into(), &"INFO".into()));
        assert_eq!((&line["instance"], &line["trace"]), (&"i1".into(), &"t1".into()));
        assert_eq!((&line["ms"], &line["field.target"]), (&5.into(), &"x".into()));
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{text}");
    }

    #[test]
    fn a_field_that_says_what_the_line_has_is_not_repeated() {
        let text = logged(|| {
            tracing::info!(node = "n1", "starting");
            tracing::info!(node = "n2", "another");
        });
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["node"], lines[0].get("field.node")), (&"n1".into(), None));
        assert_eq!((&lines[1]["node"], &lines[1]["field.node"]), (&"n1".into(), &"n2".into()));
    }

    #[test]
    fn numbers_of_the_nats_client_are_numbers() {
        let text = logged(|| {
            tracing::info!(target: "async_nats::connector", server = %4222, "connected successfully");
            tracing::info!(instance = %"4222", "ours");
        });
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["server"], &lines[1]["instance"]), (&4222.into(), &"4222".into()));
    }

    #[test]
    fn an_error_is_a_text_and_lines_stay_lines() {
        let error = io::Error::other("a\nb");
        let text = logged(|| {
            tracing::warn!(%error, ok = true, part = 0.5, "first");
            tracing::warn!("second");
        });
        assert_eq!(text.lines().count(), 2);
        let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(line["error"], "a\nb");
        assert_eq!((&line["ok"], &line["part"]), (&true.into(), &0.5.into()));
    }
}
