//! Labels of definitions as a person types them.

use serde_json::json;

use crate::dev::Dev;
use crate::{json as document, run_in, stderr};

#[tokio::test]
async fn a_label_is_made_given_to_a_definition_and_removed() {
    let here = tempfile::tempdir().unwrap();
    let dev = Dev::start(here.path()).await;
    let ask = async |arguments: &[&str]| {
        let server = ["-o", "json", "--server", dev.url.as_str()];
        run_in(here.path(), &[arguments, &server].concat()).await
    };
    let run = async |arguments: &[&str]| {
        let output = ask(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        document(&output)
    };
    for name in ["order", "invoice"] {
        let flow = json!({"name": name, "root": [{"type": "WriteLine", "text": name}]});
        std::fs::write(here.path().join(format!("{name}.yaml")), flow.to_string()).unwrap();
        run(&["apply", "-f", &format!("{name}.yaml")]).await;
    }
    let shop = run(&["label", "add", "Shop", "--color", "#1a7f37"]).await;
    assert_eq!((&shop["normalizedName"], &shop["color"]), (&json!("shop"), &json!("#1a7f37")));
    run(&["label", "add", "Archive", "--description", "No one needs them"]).await;
    let taken = ask(&["label", "add", "SHOP"]).await;
    assert_eq!(taken.status.code(), Some(4), "{}", stderr(&taken));
    let names = async |arguments: &[&str]| {
        let listed = run(arguments).await;
        let names = listed.as_array().unwrap().iter().map(|one| one["name"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&["label", "ls"]).await, ["Archive", "Shop"]);

    let set = run(&["label", "set", "order", "shop", "archive"]).await;
    assert_eq!(set["items"].as_array().unwrap().len(), 2, "{set}");
    assert_eq!(names(&["label", "ls", "--definition", "order"]).await, ["Archive", "Shop"]);
    assert_eq!(names(&["workflow", "ls", "--label", "SHOP"]).await, ["order"]);
    assert_eq!(names(&["label", "ls", "--definition", "invoice"]).await.len(), 0);
    for unknown in [
        &["label", "set", "order", "none"][..],
        &["label", "rm", "none"],
        &["workflow", "ls", "--label", "none"],
    ] {
        let refused = ask(unknown).await;
        assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("staunch label ls"), "{}", stderr(&refused));
    }

    run(&["label", "rm", "archive"]).await;
    assert_eq!(names(&["label", "ls", "--definition", "order"]).await, ["Shop"]);
    run(&["label", "set", "order"]).await;
    assert_eq!(names(&["label", "ls", "--definition", "order"]).await.len(), 0);
    dev.end().await;
}
