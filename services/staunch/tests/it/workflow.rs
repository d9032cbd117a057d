//! Definitions by hand: apply, compare, export and test.

use std::path::Path;
use std::process::Output;

use serde_json::json;

use crate::dev::Dev;
use crate::{json as document, run_in, stderr};

const HELLO: &str = "name: Hello\nvariables: {Who: World}\nflow:\n  say: {type: WriteLine, text: {variable: Who}, next: wait}\n  wait: {type: Delay, timeSpan: 1h}\n";

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// The whole way of a definition that was written by hand.
#[tokio::test]
async fn a_definition_by_hand_goes_to_the_server_and_back() {
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("flows")).unwrap();
    write(here.path(), "flows/hello.yaml", HELLO);
    write(here.path(), "flows/hello.test.yaml", "tests: {a: {expect: {lines: [World]}}}\n");
    write(here.path(), "flows/list.json", "[{\"type\": \"WriteLine\", \"text\": \"x\"}]");
    let dev = Dev::start(here.path()).await;
    let run = async |arguments: &[&str], code: i32| {
        let server = ["--server", dev.url.as_str()];
        let output = run_in(here.path(), &[arguments, &server].concat()).await;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        output
    };
    let state = async |expected: [&str; 2], more: &[&str]| {
        let output = run(&[&["apply", "-f", "flows", "-o", "json"], more].concat(), 0).await;
        let found = document(&output);
        let states = [&found[0]["state"], &found[1]["state"]];
        assert_eq!(states, expected.map(|it| json!(it)).each_ref(), "{found}");
        found
    };
    let planned = state(["new", "new"], &["--dry-run"]).await;
    assert!(
        planned[0]["difference"].as_str().unwrap().contains("+      variable: Who"),
        "{planned}"
    );
    run(&["workflow", "get", "hello"], 3).await;
    state(["published", "published"], &[]).await;
    state(["unchanged", "unchanged"], &[]).await;
    state(["unchanged", "unchanged"], &["--dry-run"]).await;

    // What a publication would refuse is refused by a dry run; tests beside it are no definitions.
    write(here.path(), "flows/hello.test.yaml", "tests: {it: {}}");
    write(here.path(), "flows/wrong.yaml", "root: {type: WriteLine, text: {js: '1 +'}}");
    let refused = run(&["apply", "-f", "flows/*.yaml", "--dry-run"], 1).await;
    assert!(stderr(&refused).contains("flows/wrong.yaml:1:"), "{}", stderr(&refused));
    std::fs::remove_file(here.path().join("flows/wrong.yaml")).unwrap();
    std::fs::remove_file(here.path().join("flows/hello.test.yaml")).unwrap();

    write(here.path(), "flows/hello.yaml", &HELLO.replace("World", "Moon"));
    let planned = state(["changed", "unchanged"], &["--dry-run"]).await;
    let difference = planned[0]["difference"].as_str().unwrap();
    assert!(difference.contains("-  Who: World\n+  Who: Moon\n"), "{difference}");
    let shown = run(&["workflow", "diff", "--file", "flows/hello.yaml"], 0).await;
    assert!(stdout(&shown).contains("+  Who: Moon"), "{shown:?}");
    state(["published", "unchanged"], &[]).await;
    let shown = run(&["workflow", "diff", "hello", "--from", "1", "--to", "2"], 0).await;
    assert!(stdout(&shown).contains("-  Who: World"), "{shown:?}");

    let listed = document(&run(&["workflow", "ls", "-o", "json"], 0).await);
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    let shown = stdout(&run(&["workflow", "get", "hello"], 0).await);
    assert!(shown.contains("version      2") && shown.contains("next: wait"), "{shown}");

    // What was exported in any form and notation is the same definition.
    for arguments in [
        &["--as", "elsa"][..],
        &["--as", "short"],
        &["--as", "short", "--notation", "json"],
        &["--notation", "yaml"],
    ] {
        let folder = format!("out{}", arguments.join("-"));
        run(&[&["workflow", "export", "--all", "--to", &folder], arguments].concat(), 0).await;
        let again = document(&run(&["apply", "-f", &folder, "-o", "json"], 0).await);
        for one in again.as_array().unwrap() {
            assert_eq!(one["state"], "unchanged", "{folder}: {again}");
        }
    }
    let short = stdout(&run(&["workflow", "export", "hello", "--as", "short"], 0).await);
    assert!(short.contains("next: wait") && short.contains("name: Who"), "{short}");

    // Workflows that use one are published again for it, and that is said.
    write(
        here.path(),
        "used.yaml",
        "options: {usableAsActivity: true, autoUpdateConsumingWorkflows: true}\nroot: {type: End}\n",
    );
    write(here.path(), "user.yaml", "root: [{type: Used, workflowDefinitionId: used}]\n");
    run(&["apply", "-f", "used.yaml", "user.yaml"], 0).await;
    let shown = run(&["workflow", "diff", "--file", "user.yaml"], 0).await;
    assert!(stderr(&shown).contains("no difference"), "pins are no difference: {shown:?}");
    write(
        here.path(),
        "used.yaml",
        "options: {usableAsActivity: true, autoUpdateConsumingWorkflows: true}\n\
         root: {type: WriteLine, text: again}\n",
    );
    let again = run(&["apply", "-f", "used.yaml"], 0).await;
    assert!(stderr(&again).contains("used: 1 workflow that uses it was published"), "{again:?}");

    run(&["workflow", "retract", "hello"], 0).await;
    run(&["run", "hello"], 3).await;
    run(&["workflow", "publish", "hello"], 0).await;
    run(&["run", "hello"], 0).await;
    run(&["workflow", "publish", "gone"], 3).await;

    write(
        here.path(),
        "flows/list.json",
        "[\n  {\"type\": \"WriteLine\", \"text\": {\"js\": \"1 +\"}}\n]",
    );
    let refused = run(&["apply", "-f", "flows/*.json"], 1).await;
    assert!(
        stderr(&refused).contains("flows/list.json:2:25: activity WriteLine1: text: line 1"),
        "{refused:?}"
    );
    dev.end().await;
}

/// Nothing of files that belong together is applied where one has mistakes.
#[tokio::test]
async fn an_apply_names_every_mistake_of_a_file_at_once() {
    let here = tempfile::tempdir().unwrap();
    let dev = Dev::start(here.path()).await;
    let run = async |arguments: &[&str], code: i32| {
        let output = run_in(here.path(), &[arguments, &["--server", &dev.url]].concat()).await;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        output
    };
    write(here.path(), "hello.yaml", EVERYTHING_WRONG);
    for arguments in
        [&["apply", "-f", "hello.yaml"][..], &["apply", "-f", "hello.yaml", "--dry-run"]]
    {
        let refused = stderr(&run(arguments, 2).await);
        for mistake in EVERY_MISTAKE {
            assert!(refused.contains(mistake), "{arguments:?}, {mistake}: {refused}");
        }
    }
    let draft = stderr(&run(&["apply", "-f", "hello.yaml", "--draft"], 2).await);
    assert!(draft.contains(EVERY_MISTAKE[0]) && !draft.contains("WriteLin"), "{draft}");
    // Items that cannot be read move no other.
    let used = "variables: [7, {name: N, typeName: Int32, value: many}]\n\
                options: {usableAsActivity: true}\nroot: {type: End}\n";
    write(here.path(), "used.yaml", used);
    write(here.path(), "user.yaml", "root: [{type: Used, workflowDefinitionId: used}]\n");
    let refused = stderr(&run(&["apply", "-f", "used.yaml", "user.yaml"], 2).await);
    assert!(refused.contains("used.yaml:1:13: variables[0]: this is 7"), "{refused}");
    assert!(refused.contains("used.yaml:1:43: variables[1].value: the default of N"), "{refused}");
    assert!(refused.contains("2 files are not applied"), "{refused}");
    let listed = document(&run(&["workflow", "ls", "-o", "json"], 0).await);
    assert_eq!(listed, json!([]));
    dev.end().await;
}

#[tokio::test]
async fn an_apply_warns_of_no_workflow_that_it_publishes() {
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("flows")).unwrap();
    let dev = Dev::start(here.path()).await;
    let run = async |arguments: &[&str], code: i32| {
        let output = run_in(here.path(), &[arguments, &["--server", &dev.url]].concat()).await;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    };
    let starts =
        |kind: &str, child: &str| format!("{{type: {kind}, workflowDefinitionId: {child}}}");
    let all = ["ExecuteWorkflow", "DispatchWorkflow", "BulkDispatchWorkflows"];
    let root = all.map(|kind| starts(kind, "child")).join(", ");
    write(here.path(), "flows/a.yaml", &format!("root: [{root}, {}]\n", starts(all[0], "gone")));
    write(here.path(), "flows/child.yaml", "root: {type: WriteLin}\n");
    let warning = |child: &str| format!("no workflow \"{child}\" is published");
    // It is not published.
    let shown = run(&["apply", "-f", "flows", "--dry-run"], 1).await;
    assert_eq!(shown.matches(&warning("child")).count(), 3, "{shown}");
    write(here.path(), "flows/child.yaml", &format!("root: {}\n", starts(all[0], "a")));
    for more in [&["--dry-run"][..], &[]] {
        let shown = run(&[&["apply", "-f", "flows"], more].concat(), 0).await;
        assert!(!shown.contains(&warning("child")), "{shown}");
        assert!(!shown.contains(&warning("a")), "{shown}");
        assert!(shown.contains(&warning("gone")), "{shown}");
    }
    dev.end().await;
}

#[tokio::test]
async fn an_apply_refuses_files_with_the_same_id() {
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("flows")).unwrap();
    let dev = Dev::start(here.path()).await;
    for (file, text) in [("a", "one"), ("b", "two"), ("c", "three")] {
        let id = if file == "c" { "other" } else { "twin" };
        let content = format!("definitionId: {id}\nroot: {{type: WriteLine, text: {text}}}\n");
        write(here.path(), &format!("flows/{file}.yaml"), &content);
    }
    for more in [&["--dry-run"][..], &[]] {
        let all = [&["apply", "-f", "flows", "--server", &dev.url], more].concat();
        let output = run_in(here.path(), &all).await;
        let shown = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains("flows/a.yaml, flows/b.yaml: these files have the same"), "{shown}");
    }
    let listed = run_in(here.path(), &["workflow", "ls", "-o", "json", "--server", &dev.url]).await;
    let listed = document(&listed);
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed[0]["definitionId"], "other");
    dev.end().await;
}

/// Mistakes of the short form, of activities and of connections, each of which hides no other.
const EVERYTHING_WRONG: &str = "each: 1
root:
  type: Flowchart
  activities:
    - {id: a, type: WriteLin}
    - {id: a, type: Cron, cronExpression: nope}
    - {id: b, type: WriteLine, text: {js: \"1 +\"}, next: [zz, 1]}
    - {text: no type}
    - nonsense
  connections: [b.Done -> yy, a -> b]
";
const EVERY_MISTAKE: [&str; 10] = [
    "hello.yaml:1:7: each is an object",
    "hello.yaml:7:62: next names activities by their ids",
    "hello.yaml:5:15: activity a: type: there is no activity type WriteLin",
    "hello.yaml:5:8: activity a: id: the id a is used twice here",
    "hello.yaml:5:7: activity a: cronExpression: \"nope\" is not a cron expression",
    "hello.yaml:7:32: activity b: text: line 1",
    "hello.yaml:8:7: activity Activity1: type: there is no type",
    "hello.yaml:9:7: activity Flowchart1: activities[4]: \"nonsense\" is not an activity",
    "hello.yaml:10:17: activity Flowchart1: connections[0]: this connection (b to yy) names",
    "hello.yaml:7:58: activity Flowchart1: connections[2]: this connection (b to zz) names",
];

#[tokio::test]
async fn tests_and_checks_need_no_server() {
    let here = tempfile::tempdir().unwrap();
    write(here.path(), "hello.yaml", HELLO);
    write(
        here.path(),
        "hello.test.yaml",
        "tests: {it greets: {expect: {lines: [World], took: 1h}}}\n",
    );
    let run = async |arguments: &[&str], code: i32| {
        let output = run_in(here.path(), arguments).await;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        output
    };
    run(&["workflow", "validate", "hello.yaml"], 0).await;
    let passed = run(&["test", "--coverage"], 0).await;
    let shown = stdout(&passed);
    let total = shown.lines().find(|line| line.starts_with("total")).unwrap();
    assert!(shown.contains("ok      it greets") && total.contains("3/3"), "{shown}");
    let report = document(&run(&["test", "hello.test.yaml", "-o", "json"], 0).await);
    assert_eq!(report["tests"][0]["passed"], true, "{report}");
    write(here.path(), "hello.test.yaml", "tests: {it greets: {expect: {lines: [Moon]}}}\n");
    let failed = run(&["test"], 1).await;
    assert!(stdout(&failed).contains("FAILED  it greets (./hello.test.yaml:1:9)"), "{failed:?}");
    assert!(stdout(&failed).contains("-  - Moon"), "{failed:?}");
    write(here.path(), "hello.test.yaml", "tests: {a: {expct: {}}}\n");
    let wrong = run(&["test"], 2).await;
    assert!(stderr(&wrong).contains("hello.test.yaml:1:13: expct means nothing here"), "{wrong:?}");
    write(here.path(), "hello.yaml", "flow: {a: {type: WriteLin}}\n");
    let wrong = run(&["workflow", "validate", "hello.yaml"], 1).await;
    assert!(
        stdout(&wrong).contains(
            "hello.yaml:1:12: activity a: type: there is no activity type WriteLin: did you mean"
        ),
        "{wrong:?}"
    );
    write(here.path(), "hello.yaml", EVERYTHING_WRONG);
    let wrong = stdout(&run(&["workflow", "validate", "hello.yaml"], 2).await);
    let lines: Vec<_> = wrong.lines().collect();
    assert_eq!(lines.len(), EVERY_MISTAKE.len(), "{wrong}");
    for (line, expected) in lines.iter().zip(EVERY_MISTAKE) {
        assert!(line.starts_with(expected), "{line} is not {expected}");
    }
    // Tests of a definition with mistakes name all of them, too.
    write(here.path(), "hello.test.yaml", "tests: {a: {expect: {lines: []}}}\n");
    let wrong = stderr(&run(&["test"], 2).await);
    for mistake in EVERY_MISTAKE.iter().filter(|it| !it.contains("cron")) {
        assert!(wrong.contains(mistake), "{mistake}: {wrong}");
    }
    run(&["test", "none"], 2).await;
    let schema = document(&run(&["test", "--schema"], 0).await);
    assert_eq!(schema["title"], "Tests of a workflow definition");
    run(&["workflow", "validate", "none"], 2).await;
}

/// One of the two paths to an activity is never taken. In counter mode the activity runs all the same; in
/// token mode it waits for both, as its merge mode says. What fails ends all, or only its own branch.
#[tokio::test]
async fn tests_run_with_the_settings_of_a_server() {
    const FORK: &str = "flow:\n  a: {type: FlowDecision, condition: true, next: {True: b, False: c}}\n  b: {type: WriteLine, text: b, next: d}\n  c: {type: WriteLine, text: c, next: d}\n  d: {type: WriteLine, text: d, customProperties: {mergeMode: Converge}}\n";
    const FAILS: &str = "flow:\n  a: {type: WriteLine, text: a, next: [b, c]}\n  b: {type: WriteLine, text: {js: \"throw new Error('no')\"}}\n  c: {type: WriteLine, text: c}\n";
    let here = tempfile::tempdir().unwrap();
    write(here.path(), "fork.yaml", FORK);
    write(here.path(), "fails.yaml", FAILS);
    let check = async |name: &str, lines: &str, settings: &[&str]| {
        let tests = format!("tests: {{it: {{expect: {{lines: {lines}}}}}}}\n");
        let file = format!("{name}.test.yaml");
        write(here.path(), &file, &tests);
        let output = run_in(here.path(), &[&["test", &file], settings].concat()).await;
        assert_eq!(output.status.code(), Some(0), "{settings:?}: {output:?}");
    };
    check("fork", "[b, d]", &[]).await;
    check("fork", "[b, d]", &["--flowchart-mode", "counter"]).await;
    check("fork", "[b]", &["--flowchart-mode", "token"]).await;
    check("fails", "[a]", &[]).await;
    check("fails", "[a, c]", &["--incident-strategy", "continue-with-incidents"]).await;
    let file = "flowchart-mode = \"token\"\nincident-strategy = \"continue-with-incidents\"\n";
    write(here.path(), "staunch.toml", file);
    check("fork", "[b]", &["--config", "staunch.toml"]).await;
    check("fails", "[a, c]", &["--config", "staunch.toml"]).await;
    let wrong = run_in(here.path(), &["test", "--flowchart-mode", "tokens"]).await;
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(stderr(&wrong).contains("flowchart-mode"), "{wrong:?}");
}
