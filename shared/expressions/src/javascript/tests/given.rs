//! What an evaluation is given beside its scope: arguments and configuration.

use engine::Language as _;
use serde_json::json;

use super::{failure, run_on};
use crate::JavaScript;
use crate::stage::furnished;

#[test]
fn arguments_are_read_by_their_names() {
    let mut stage = furnished();
    stage.arguments.insert("item".to_owned(), json!({"id": "a-7", "counter": 1}));
    stage.arguments.insert("Counter".to_owned(), json!(9));
    for (source, expected) in [
        ("args.item.id", json!("a-7")),
        ("`order ${args.item.id}`", json!("order a-7")),
        ("const { item } = args; item.id", json!("a-7")),
        ("args['it' + 'em'].id", json!("a-7")),
        ("getItem().id", json!("a-7")),
        ("let x = getItem(); x.id", json!("a-7")),
        ("getCounter()", json!(9)),
        ("setCounter(5); getCounter()", json!(9)),
        ("args.nothing ?? 1", json!(1)),
        ("typeof args.toString", json!("function")),
        ("Object.keys(args)", json!(["item", "Counter"])),
    ] {
        assert_eq!(run_on(&mut stage, source).unwrap(), expected, "{source}");
    }
}

#[test]
fn the_configuration_is_read_by_its_keys() {
    let flaw = failure("getConfig('Shop:Url')");
    assert!(flaw.message.contains("set script-config"), "{flaw:?}");
    let values = [("Shop:Url", "https://shop"), ("Tries", "3")];
    let values = values.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let config = std::sync::Arc::new(crate::Config::new(&values.into()));
    let script = JavaScript::with(model::limits::SCRIPT_TIME_MAX, config);
    for (source, expected) in [
        ("getConfig('Shop:Url') + '/x'", json!("https://shop/x")),
        ("getConfig('Shop').Url", json!("https://shop")),
        ("getConfig('Nothing') ?? 'none'", json!("none")),
        ("Number(getConfig('tries')) + 1", json!(4)),
    ] {
        assert_eq!(script.evaluate(source, &mut furnished()).unwrap(), expected, "{source}");
    }
}
