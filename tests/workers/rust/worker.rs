//! The handlers of the conformance kit, in Rust; with the argument `client`, the client's calls; with
//! `watch` and an instance, its events.

#![expect(clippy::disallowed_methods, reason = "a program of its own, as a user would write it")]
#![expect(clippy::print_stdout, reason = "the kit reads what it says")]

use std::io::Write as _;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use staunch_client::{Client, Error, Failure, Signal, Start, Task, Worker};

#[derive(Deserialize)]
struct Slow {
    ms: u64,
}

#[derive(Deserialize)]
struct Number {
    number: i64,
}

#[derive(Deserialize)]
struct Big {
    bytes: usize,
}

#[derive(Deserialize)]
struct Deep {
    levels: usize,
}

#[derive(Deserialize)]
struct Count {
    count: usize,
}

#[derive(Deserialize)]
struct Steps {
    steps: Vec<Value>,
}

#[derive(Deserialize)]
struct Long {
    text: String,
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn note(what: &str, id: &str, attempt: u32) -> std::io::Result<()> {
    let journal = variable("WORKER_JOURNAL");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(journal)?;
    file.write_all(format!("{what} {id} {attempt} {}\n", std::process::id()).as_bytes())
}

/// Notes how a task ended, also when its future is dropped.
struct End(String, u32, &'static str);

impl Drop for End {
    fn drop(&mut self) {
        drop(note(self.2, &self.0, self.1));
    }
}

async fn slow(task: Task<Slow>) -> Result<Value, Failure> {
    note("begin", &task.id, task.attempt)?;
    let mut end = End(task.id, task.attempt, "cancelled");
    tokio::time::sleep(Duration::from_millis(task.input.ms)).await;
    end.2 = "end";
    Ok(json!({ "pid": std::process::id() }))
}

async fn work(nats: async_nats::Client) -> anyhow::Result<()> {
    let drain = variable("WORKER_DRAIN").parse().unwrap_or(30.0);
    let mut worker = Worker::new(nats, Duration::from_secs_f64(drain));
    let prefix = variable("WORKER_PREFIX");
    let name = |kind: &str| format!("{prefix} {kind}");
    worker.task(&name("echo.ü"), 1, 8, async |task: Task<Value>| {
        note("begin", &task.id, task.attempt)?;
        task.progress(json!({ "step": "echo" })).await?;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century are exact")]
        let deadline = task.deadline.map(|time| time.as_millisecond() as f64 / 1000.0);
        let trace = task.traceparent;
        let said = json!({
            "input": task.input, "attempt": task.attempt, "key": task.key, "trace": trace,
            "workflow": task.workflow_name, "correlation": task.correlation_id,
        });
        Ok(merged(said, "deadline", json!(deadline)))
    });
    worker.task(&name("slow"), 1, 3, slow);
    worker.task(&name("blocking"), 1, 8, slow);
    worker.task(&name("second"), 2, 8, async |task: Task<Value>| Ok(task.version));
    worker.task(&name("fail-once"), 1, 8, async |task: Task<Value>| {
        note("begin", &task.id, task.attempt)?;
        if task.attempt == 1 {
            return Err(std::io::Error::other("the parcel service is away").into());
        }
        Ok(json!({ "attempt": task.attempt }))
    });
    worker.task(&name("fail-for-good"), 1, 8, async |task: Task<Value>| {
        note("begin", &task.id, task.attempt)?;
        let failure = Failure::for_good("CardDeclined", "declined").detail("no money");
        Err::<Value, _>(Failure { status: Some(402), ..failure })
    });
    worker.task(&name("fail-later"), 1, 8, async |task: Task<Value>| {
        note("begin", &task.id, task.attempt)?;
        if task.attempt == 1 {
            let busy = Failure { retryable: true, ..Failure::for_good("Busy", "busy") };
            return Err(Failure { retry_after: Some(2), ..busy });
        }
        Ok(json!({ "attempt": task.attempt }))
    });
    worker.task(&name("typed"), 1, 8, async |task: Task<Number>| Ok(task.input.number + 1));
    worker.task(&name("big"), 1, 8, async |task: Task<Big>| {
        note("begin", &task.id, task.attempt)?;
        Ok("x".repeat(task.input.bytes))
    });
    worker.task(&name("deep"), 1, 8, async |task: Task<Deep>| {
        note("begin", &task.id, task.attempt)?;
        Ok((0..task.input.levels).fold(json!([]), |value, _| json!([value])))
    });
    worker.task(&name("length"), 1, 8, async |task: Task<Long>| Ok(task.input.text.len()));
    worker.task(&name("progress"), 1, 8, async |task: Task<Steps>| {
        for step in &task.input.steps {
            task.progress(step.clone()).await?;
        }
        let refused = task.progress("x".repeat(70_000)).await.err();
        Ok(refused.map_or_else(|| "not refused".to_owned(), |failure| failure.title))
    });
    worker.task(&name("counting"), 1, 8, async |task: Task<Count>| {
        for number in 0..task.input.count {
            task.progress(json!({ "number": number })).await?;
            note("said", &task.id, task.attempt)?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(task.input.count)
    });
    worker.task(&name("crash-before-result"), 1, 8, async |task: Task<Value>| {
        note("begin", &task.id, task.attempt)?;
        let journal = std::fs::read_to_string(variable("WORKER_JOURNAL"))?;
        if journal.matches(&format!("begin {}", task.id)).count() == 1 {
            std::process::abort();
        }
        Ok(json!({ "survived": true }))
    });
    Ok(worker.run().await?)
}

async fn call(nats: async_nats::Client) -> anyhow::Result<()> {
    let client = Client::new(nats, Duration::from_secs(30));
    let prefix = variable("WORKER_PREFIX");
    let (definition, id) = (format!("{prefix}-waits"), format!("{prefix}-instance"));
    let settled = Start { settled: true, ..Start::default() };
    let mut said = json!({});
    let how = Start { instance_id: Some(id.clone()), ..settled.clone() };
    said["status"] = json!(client.start(&definition, json!({}), how.clone()).await?.sub_status);
    if let Err(Error::Refused(outcome)) = client.start(&definition, json!({}), how).await {
        said["again"] = json!(outcome.refusal);
    }
    said["query"] = json!(client.query(&id).await?.sub_status);
    let signal = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let how = Signal { instance_id: Some(id.clone()), ..Signal::default() };
        client.signal("go.on", json!({ "by": "Ada" }), how).await
    };
    let (watched, signalled) = tokio::join!(follow(&client, &id), signal);
    signalled?;
    said["watched"] = json!(watched?);
    said["late"] = json!(follow(&client, &id).await?);
    said["output"] = json!(client.query(&id).await?.output);
    let held = client.start(&definition, json!({}), settled.clone()).await?;
    let instance = held.workflow_instance_id.unwrap_or_default();
    let bookmark = held.bookmarks.first().map(String::as_str);
    let resumed = client.resume(&instance, bookmark, json!({ "Payload": 1 })).await?;
    said["resumed"] = json!(resumed.sub_status);
    if let Err(Error::Refused(outcome)) = client.resume(&instance, bookmark, json!({})).await {
        said["refused"] = json!(outcome.refusal);
    }
    let third = client.start(&definition, json!({}), settled.clone()).await?;
    let third = third.workflow_instance_id.unwrap_or_default();
    said["cancelled"] = json!(client.cancel(&third, Some("no need")).await?.sub_status);
    if let Err(Error::Request { status, .. }) =
        client.start("there is none", json!({}), settled).await
    {
        said["absent"] = json!(status);
    }
    println!("{said}");
    Ok(())
}

async fn follow(client: &Client, instance: &str) -> Result<Vec<String>, Error> {
    let (mut watch, mut names) = (client.watch(instance).await?, Vec::new());
    while let Some(event) = watch.next().await? {
        names.push(event.event);
    }
    Ok(names)
}

fn merged(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let user = variable("WORKER_USER");
    let mut login = async_nats::ConnectOptions::new();
    if !user.is_empty() {
        login = login.custom_inbox_prefix(format!("_INBOX.{user}"));
        login = login.user_and_password(user, "secret".to_owned());
    }
    let nats = login.connect(variable("NATS_URL")).await?;
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (None, _) => work(nats).await,
        (Some(_), None) => call(nats).await,
        (Some(_), Some(instance)) => {
            let client = Client::new(nats, Duration::from_secs(30));
            println!("{}", json!(follow(&client, &instance).await?));
            Ok(())
        }
    }
}
