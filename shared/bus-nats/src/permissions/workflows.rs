//! What workflows use of NATS beside what is Staunch's own, and the permissions of executors for it.

use bus::Error;

use super::grant::Grant;
use super::role;

/// Names that are given together, at most.
const NAMES_MAX: usize = 1_000;

/// What workflows use of NATS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Subjects on which they send, ask and listen, with wildcards.
    pub subjects: Vec<String>,
    /// Streams whose messages they take.
    pub streams: Vec<String>,
    /// Buckets of which they read, write and follow keys.
    pub buckets: Vec<String>,
    /// Object stores of which they read, write and follow objects.
    pub object_stores: Vec<String>,
}

/// What an executor needs for all of it.
///
/// # Errors
/// [`Error::Corrupt`] when there are too many names, or one that a configuration cannot have.
pub(super) fn grant(used: &Used) -> Result<Grant, Error> {
    let Used { subjects, streams, buckets, object_stores } = used;
    let all: Vec<_> = [subjects, streams, buckets, object_stores].into_iter().flatten().collect();
    if all.len() > NAMES_MAX {
        return Err(Error::Corrupt(format!("more than {NAMES_MAX} names that workflows use")));
    }
    let is_bad = |c: char| c.is_whitespace() || c.is_control() || c == '"' || c == '\\';
    if let Some(bad) = all.into_iter().find(|name| name.is_empty() || name.contains(is_bad)) {
        return Err(Error::Corrupt(format!("no permission can be written for the name {bad:?}")));
    }
    let mut grant = Grant::default();
    grant.publishes(subjects);
    grant.subscribes(subjects);
    streams.iter().for_each(|stream| takes(&mut grant, stream));
    for bucket in buckets {
        let stream = format!("KV_{bucket}");
        takes(&mut grant, &stream);
        // A bucket without direct answers, and a write whose answer was lost, are read by the second.
        grant.publishes([
            format!("$JS.API.DIRECT.GET.{stream}.$KV.{bucket}.>"),
            format!("$JS.API.STREAM.MSG.GET.{stream}"),
            format!("$KV.{bucket}.>"),
        ]);
    }
    for store in object_stores {
        takes(&mut grant, &format!("OBJ_{store}"));
        role::reads_objects(&mut grant, store);
        role::writes_objects(&mut grant, store);
    }
    Ok(grant)
}

/// Makes consumers of a stream, and takes their messages.
fn takes(grant: &mut Grant, stream: &str) {
    grant.publishes([
        format!("$JS.API.STREAM.INFO.{stream}"),
        format!("$JS.API.CONSUMER.INFO.{stream}.*"),
        // The address has the name of the consumer, and the subject of its messages.
        format!("$JS.API.CONSUMER.CREATE.{stream}.>"),
    ]);
    grant.publishes(role::pulls(stream, "*"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_executor_may_do_what_workflows_do_there_and_touches_nothing_else() {
        let used = Used {
            subjects: names(&["orders.>"]),
            streams: names(&["ORDERS"]),
            buckets: names(&["config"]),
            object_stores: names(&["files"]),
        };
        let Grant { publish, subscribe } = grant(&used).unwrap();
        assert_eq!(subscribe.into_iter().collect::<Vec<_>>(), ["orders.>"]);
        for subject in [
            "orders.>",
            "$JS.API.STREAM.INFO.ORDERS",
            "$JS.API.CONSUMER.INFO.ORDERS.*",
            "$JS.API.CONSUMER.CREATE.ORDERS.>",
            "$JS.API.CONSUMER.MSG.NEXT.ORDERS.*",
            "$JS.ACK.ORDERS.*.>",
            "$JS.ACK._.*.ORDERS.*.>",
            "$KV.config.>",
            "$JS.API.DIRECT.GET.KV_config.$KV.config.>",
            "$JS.API.CONSUMER.CREATE.KV_config.>",
            "$O.files.M.*",
            "$JS.API.CONSUMER.CREATE.OBJ_files",
        ] {
            assert!(publish.contains(subject), "{subject}: {publish:#?}");
        }
        let names = ["orders", "ORDERS", "config", "files"];
        let is_named = |subject: &&String| names.iter().any(|name| subject.contains(name));
        assert!(publish.iter().all(|subject| is_named(&subject)), "{publish:#?}");
        let is_harmful = |subject: &&String| {
            [".DELETE.", ".UPDATE.", "STREAM.CREATE."].iter().any(|verb| subject.contains(verb))
        };
        let harmful: Vec<_> = publish.iter().filter(is_harmful).collect();
        assert_eq!(harmful, ["$JS.API.CONSUMER.DELETE.OBJ_files.*"]);
    }

    #[test]
    fn a_name_that_ends_the_text_of_the_configuration_is_refused() {
        for name in ["", "a b", "a\"", "a\\", "a\n"] {
            let used = Used { streams: names(&[name]), ..Used::default() };
            assert!(grant(&used).is_err(), "{name:?}");
        }
        let many = vec!["x".to_owned(); NAMES_MAX + 1];
        assert!(grant(&Used { streams: many, ..Used::default() }).is_err());
    }
}
