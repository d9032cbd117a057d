//! Secrets: their values are nowhere but at the other side of calls, and the key that wraps them is
//! replaced under load.

use std::path::PathBuf;
use std::time::Duration;

use cluster::{Node, NodePlan};
use serde_json::{Value, json};
use testkit::eventually;

use crate::api::Api;
use crate::other_side::OtherSide;
use crate::search::{Wire, database, files, forms, must_not_have, streams};
use crate::workflow::{event, line, sequence, set_output};
use crate::world::World;

const SOON: Duration = Duration::from_secs(30);
/// What is searched; the values have more around it.
const PLAIN: &str = "hunter2IsNeverKept";
const QUOTED: &str = "Tr0ub4dorIsNot";
const KEY_FILE: &str = "master.key";

fn typed(type_name: &str, kind: &str, value: &Value) -> Value {
    json!({"typeName": type_name, "expression": {"type": kind, "value": value}})
}

fn js(type_name: &str, script: &str) -> Value {
    typed(type_name, "JavaScript", &json!(script))
}

fn text(value: &str) -> Value {
    typed("String", "Literal", &json!(value))
}

fn activity(id: &str, kind: &str, members: Value) -> Value {
    let mut activity = json!({"id": id, "type": format!("Elsa.{kind}"), "version": 1});
    let members = members.as_object().unwrap().clone();
    activity.as_object_mut().unwrap().extend(members);
    activity
}

/// Uses secrets wherever a workflow has a value, and faults at its end.
fn pay(url: &str) -> Value {
    let call = |id: &str, path: &str| {
        let reason = "({'X-Key': variables.Key, 'X-Quoted': encodeURIComponent(variables.Basic)})";
        activity(id, "SendHttpRequest", json!({
            "url": text(&format!("{url}{path}")), "method": text("POST"),
            "authorization": js("String", "'Bearer ' + await getSecret('pay.key')"),
            "requestHeaders": js("Object", reason),
            "content": js("Object", "({basic: variables.Basic, quoted: await getSecret('pay.quoted')})"),
            "customProperties": {"retry": {"attempts": 3, "delay": "1s", "backoff": "constant"}},
        }))
    };
    let key = json!({"id": "k", "name": "Key", "typeName": "String"});
    let secret = typed("String", "Secret", &json!({"name": "pay.key"}));
    let activities = [
        activity("sets", "SetVariable", json!({"variable": key, "value": secret})),
        activity("script", "RunJavaScript", json!({"script": js("String",
            "setVariable('Basic', stringToBase64('u:' + await getSecret('pay.key'))); \
             ({key: variables.Key, of: [await getSecret('pay.quoted')]})")})),
        activity("line", "WriteLine", json!({"text": js("String", "'key ' + variables.Key")})),
        call("call", "/pays"),
        call("again", "/fails"),
        activity("raises", "PublishEvent", json!({"eventName": text("paid"), "payload": js("Object",
            "({key: variables.Key, echo: getOutputFrom('call', 'ParsedContent')})")})),
        activity("child", "DispatchWorkflow", json!({"workflowDefinitionId": text("quiet"),
            "input": js("ObjectDictionary", "({key: await getSecret('pay.key')})")})),
        set_output("out", "Result", "'r ' + await getSecret('pay.key')"),
        activity("throws", "RunJavaScript",
            json!({"script": js("String", "throw new Error('no ' + await getSecret('pay.key'))")})),
    ];
    let mut definition = sequence("pay", &activities);
    definition["variables"] = json!([key, {"id": "b", "name": "Basic", "typeName": "String"}]);
    definition
}

/// Hands a secret to a worker, and waits.
fn asks() -> Value {
    let payload = js("ObjectDictionary", "({key: await getSecret('pay.key')})");
    let task = json!({"taskName": text("Ship"), "payload": payload});
    sequence("asks", &[activity("task", "RunTask", task)])
}

/// Answers an HTTP client with a secret.
fn answers() -> Value {
    let endpoint = json!({"path": text("answers"), "canStartWorkflow": true});
    let answer = json!({"content": js("Object", "'yours: ' + await getSecret('pay.key')")});
    sequence(
        "answers",
        &[
            activity("endpoint", "HttpEndpoint", endpoint),
            activity("answer", "WriteHttpResponse", answer),
        ],
    )
}

struct Setting {
    key_file: PathBuf,
}

impl Setting {
    fn new(world: &World, keys: &str) -> Self {
        let key_file = world.cluster.folder().join(KEY_FILE);
        std::fs::write(&key_file, keys).unwrap();
        Self { key_file }
    }

    fn plan(&self, name: &str) -> NodePlan {
        let mut plan = NodePlan::new(name, "all");
        let log = "debug,executor=trace,ingress=trace,engine=trace,connectors=trace,store_sql=trace";
        let key_file = self.key_file.display().to_string();
        plan.arguments = ["--secrets-key-file", &key_file, "--allow-private-addresses", "--log", log]
            .map(str::to_owned)
            .to_vec();
        plan
    }
}

/// A workflow uses secrets in calls, faults, is retried, and leaves a dead letter.
pub(crate) async fn values_of_secrets_are_nowhere(world: World) {
    let client = world.client().await;
    let wire = Wire::watch(&client).await;
    let (other, traces) = (OtherSide::echoing(), OtherSide::silent());
    let setting = Setting::new(&world, &"5a".repeat(32));
    let mut plan = setting.plan("all");
    plan.arguments.extend(["--otlp-endpoint".to_owned(), traces.url()]);
    let mut node = world.start(plan).await;
    let api = Api::new(&node.url());
    let mut said = Vec::new();
    let values = [("pay.key", format!("{PLAIN}+x/y")), ("pay.quoted", format!("\"{QUOTED}\" \\ é"))];
    for (name, value) in &values {
        let body = json!({"name": name, "value": value});
        said.push(api.post("/secrets", &body).await.ok());
        let body = json!({"value": value});
        said.push(api.post(&format!("/secrets/{name}/rotate"), &body).await.ok());
    }
    let quiet = sequence("quiet", &[line("line", "JSON.stringify(getInput('key'))")]);
    for definition in [quiet, pay(&other.url()), asks(), answers()] {
        said.push(api.publish(&definition).await);
    }
    let id = api.start("pay", json!({})).await;
    api.reaches(&id, "Faulted", SOON).await;
    let retry = json!({"workflowInstanceIds": [id]});
    said.push(api.post("/alterations/workflows/retry", &retry).await.ok());
    let asking = api.start("asks", json!({})).await;
    api.reaches(&asking, "Suspended", SOON).await;
    let answer = api.raw(reqwest::Method::GET, "/workflows/answers", None).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    said.push(answer.body);

    // The other side has got them: nothing below would be found otherwise, either.
    assert!(other.count(&format!("Bearer {PLAIN}+x/y")) >= 2, "{:?}", other.got());
    assert!(other.count(QUOTED) >= 2, "{:?}", other.got());
    assert!(other.count("POST /fails") >= 3, "failed calls are made again");
    let url = world.cluster.nats_url();
    let list = ["dead", "ls", "-o", "json", "--nats-url", &url];
    let mut dead = String::new();
    // A command that nobody can apply brings along what the instance has sealed.
    let state = api.instance(&id).await.to_string();
    let sealed = &state[state.find("{sealed:").unwrap()..][..80];
    let start = json!({"input": {"key": sealed}}).to_string();
    client.publish("staunch.cmd.start.nowhere", start.into()).await.unwrap();
    eventually("the command is a dead letter", SOON, async || {
        dead = world.cluster.command(&list).await.unwrap();
        dead.contains("nowhere")
    })
    .await;
    for letter in serde_json::from_str::<Vec<Value>>(&dead).unwrap() {
        let number = letter["number"].to_string();
        let show = ["dead", "show", &number, "--nats-url", &url];
        said.push(json!([letter, world.cluster.command(&show).await.unwrap()]));
    }
    eventually("the retry faults again", SOON, async || {
        let journal = api.journal(&id).await;
        journal.iter().filter(|entry| entry.to_string().contains("not kept")).count() >= 2
    })
    .await;
    said.extend(everything_read(&api, &[&id, &asking]).await);
    let searched: Vec<_> = [PLAIN, QUOTED].into_iter().flat_map(forms).collect();
    let said = json!(said).to_string();
    assert!(said.contains("{sealed:") && said.contains("***") && said.contains("secret.rotate"));
    must_not_have("an answer", said.as_bytes(), &searched);
    let (stored, names) = streams(&client).await;
    assert!(names.iter().any(|name| name.starts_with("KV_")), "{names:?}");
    assert!(String::from_utf8_lossy(&stored).contains("staunch.event.audit.secret=2Erotate"));
    must_not_have("a stream", &stored, &searched);
    assert!(node.stop().await.unwrap().status.success());
    let wire = wire.collected().await;
    assert!(String::from_utf8_lossy(&wire).contains("{sealed:"));
    must_not_have("the wire", &wire, &searched);
    let rows = database(world.cluster.database_url()).await;
    let text = String::from_utf8_lossy(&rows);
    for table in ["secrets", "audit", "instances"] {
        assert!(text.contains(table), "{table}");
    }
    assert!(forms("{sealed:").iter().any(|form| rows.windows(form.len()).any(|part| part == form)));
    must_not_have("the database", &rows, &searched);
    let log = node.said();
    assert!(log.contains("call answered"), "calls are in the log");
    must_not_have("the log", log.as_bytes(), &searched);
    let traces = traces.got();
    assert!(!traces.is_empty(), "there are traces");
    must_not_have("a trace", &traces.concat(), &searched);
    must_not_have("a file", &files(world.cluster.folder(), &[KEY_FILE]), &searched);
}

/// All that the API answers about these instances, and about the rest.
async fn everything_read(api: &Api, instances: &[&str]) -> Vec<Value> {
    let mut paths: Vec<String> = [
        "/secrets", "/secrets/pay.key", "/audit?pageSize=100", "/bookmark-queue/dead-letters",
        "/workflow-instances?pageSize=100", "/workflow-definitions", "/workflow-definitions/pay/export",
        "/workflow-definitions/pay",
    ]
    .map(str::to_owned)
    .to_vec();
    for id in instances {
        for what in ["", "/journal", "/execution-state", "/export", "/variables"] {
            paths.push(format!("/workflow-instances/{id}{what}"));
        }
        paths.push(format!("/activity-executions/list?workflowInstanceId={id}"));
    }
    let mut found = Vec::new();
    for path in paths {
        let answer = api.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let records = answer.body["items"].as_array().cloned().unwrap_or_default();
        found.push(answer.body);
        if path.starts_with("/activity-executions") {
            for record in records {
                let path = format!("/activity-executions/{}", record["id"].as_str().unwrap());
                found.push(api.get(&path).await.ok());
            }
        }
        if path == "/bookmark-queue/dead-letters" {
            for letter in found.last().unwrap()["items"].as_array().cloned().unwrap_or_default() {
                let id = letter["id"].as_str().map_or_else(|| letter["id"].to_string(), str::to_owned);
                found.push(api.get(&format!("/bookmark-queue/dead-letters/{id}")).await.ok());
            }
        }
    }
    found
}

/// Seals a secret, waits for an event, and makes a call with what it has sealed.
fn waits_and_pays(url: &str) -> Value {
    let key = json!({"id": "k", "name": "Key", "typeName": "String"});
    let secret = typed("String", "Secret", &json!({"name": "pay.key"}));
    let pays = |id: &str| {
        activity(id, "SendHttpRequest", json!({
            "url": text(&format!("{url}/pays")), "method": text("POST"),
            "authorization": js("String", "'Bearer ' + variables.Key"),
        }))
    };
    let sets = activity("sets", "SetVariable", json!({"variable": key, "value": secret}));
    let activities = [sets, pays("first"), event("wait", "go"), pays("second")];
    let mut definition = sequence("pays", &activities);
    definition["variables"] = json!([key]);
    definition
}

/// Starts instances without a server: their commands wait where no node takes them.
async fn start(world: &World, ids: &mut Vec<String>, count: usize) {
    let client = world.client().await;
    for _ in 0..count {
        let id = format!("pays-{}", ids.len());
        let body = json!({"instanceId": id}).to_string();
        client.publish("staunch.cmd.start.pays", body.into()).await.unwrap();
        ids.push(id);
    }
    client.flush().await.unwrap();
}

async fn restarted(node: &mut Node) {
    assert!(node.stop().await.unwrap().status.success());
    node.restart().await.unwrap();
}

/// The master key is replaced while workflows use secrets: none of them notices. Nodes with a wrong
/// key, or none, do not start.
pub(crate) async fn the_master_key_is_replaced_under_load(world: World) {
    let (old, new) = ("0a".repeat(32), "0b".repeat(32));
    let setting = Setting::new(&world, &old);
    let (mut one, mut two) =
        (world.start(setting.plan("one")).await, world.start(setting.plan("two")).await);
    let other = OtherSide::echoing();
    let (mut ids, key) = (Vec::new(), setting.key_file.display().to_string());
    let value = world.cluster.folder().join("value");
    std::fs::write(&value, PLAIN).unwrap();
    let database = world.cluster.database_url().to_owned();
    let file = value.display().to_string();
    let on = ["--database-url", &database, "--secrets-key-file", &key];
    let set = [&["secret", "set", "pay.key", "--file", &file], &on[..]].concat();
    world.cluster.command(&set).await.unwrap();
    Api::new(&one.url()).publish(&waits_and_pays(&other.url())).await;

    // All nodes know both keys before the new one encrypts.
    for keys in [format!("{old}\n{new}\n"), format!("{new}\n{old}\n")] {
        std::fs::write(&setting.key_file, keys).unwrap();
        for node in [&mut one, &mut two] {
            start(&world, &mut ids, 20).await;
            restarted(node).await;
        }
    }
    start(&world, &mut ids, 20).await;
    let rekey = [&["secret", "rekey", "-o", "json"], &on[..]].concat();
    let rekeyed: Value = serde_json::from_str(&world.cluster.command(&rekey).await.unwrap()).unwrap();
    assert_eq!(rekeyed["keys"], 2, "the secret's and the one that seals");
    world.cluster.command(&set).await.unwrap();
    std::fs::write(&setting.key_file, &new).unwrap();
    for node in [&mut one, &mut two] {
        start(&world, &mut ids, 20).await;
        restarted(node).await;
    }

    let api = Api::new(&one.url());
    let count = u64::try_from(ids.len()).unwrap();
    eventually("all wait for the event", SOON * 2, async || {
        api.count("pays", Some("Suspended")).await == count
    })
    .await;
    api.post("/events/go/trigger", &json!({})).await.ok();
    eventually("all have finished", SOON * 2, async || {
        api.count("pays", Some("Finished")).await == count
    })
    .await;
    // A call may be repeated.
    assert!(other.count(&format!("Bearer {PLAIN}\r\n")) >= 2 * ids.len());
    assert_eq!(other.count("{sealed:"), 0);

    std::fs::write(&setting.key_file, &old).unwrap();
    let mut plans = [setting.plan("wrong"), setting.plan("none")];
    plans[1].arguments.drain(..2);
    for (plan, why) in plans.into_iter().zip(["no master key decrypts", "give it secrets-key-file"]) {
        let mut node = world.cluster.apart(plan).unwrap();
        let error = node.wait_ready().await.unwrap_err().to_string();
        assert!(error.contains("has ended") && error.contains(why), "{error}");
    }
}
