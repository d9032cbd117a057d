//! Every command of the book is run.

use std::collections::BTreeMap;
use std::sync::Arc;

use testkit::{find_program, skip};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::block::{Block, Mode, NEEDS, blocks};
use crate::document::{Document, pages, read};
use crate::machine::Machine;
use crate::ports::Pool;

/// Pages that run at the same time.
const AT_ONCE: usize = 2;

/// What the shell does around the blocks: the first command that fails ends the page.
const BEGIN: &str = "\
set -eEo pipefail
AT='before the first block'
trap 'echo \"FAILED at $AT: $BASH_COMMAND\" >&2' ERR
";

/// `staunch dev`, as the reader has it running. Its nats-server has another port if 4222 is taken. It
/// is ended in order, because it ends its nats-server itself.
const DEV: &str = "\
staunch dev --admin-listen 127.0.0.1:5002 > dev.log 2>&1 &
DEV=$!
trap 'kill $DEV; wait $DEV' EXIT
until staunch health http://127.0.0.1:5001/health/ready > /dev/null 2>&1; do sleep 0.1; done
export STAUNCH_NATS_URL=$(grep -o 'nats://[0-9.:]*' dev.log | head -1)
export NATS_URL=$STAUNCH_NATS_URL
";

/// The blocks of one page, as one script; `None` if none of them is run.
fn script(blocks: &[(Block, Mode)]) -> Option<String> {
    let runs: Vec<_> = blocks.iter().filter(|(_, mode)| mode.needs.is_none()).collect();
    if runs.is_empty() {
        return None;
    }
    let mut script = BEGIN.to_owned();
    let mut has_dev = false;
    for (block, mode) in runs {
        if mode.with_dev && !has_dev {
            script.push_str(DEV);
            has_dev = true;
        }
        let (at, text) = (&block.at, &block.text);
        script.push_str(&format!("AT='{at}'\necho \"== $AT\"\n"));
        if mode.fails {
            // In a shell of its own, whose end is looked at: `set -e` has no effect within a condition.
            script.push_str(&format!(
                "set +e\ntrap - ERR\n( set -e\n{text}\n)\nCODE=$?\nset -e\n\
                 {}if [ $CODE = 0 ]; then echo \"FAILED at $AT: it succeeds\" >&2; exit 1; fi\n",
                BEGIN.lines().last().map(|trap| format!("{trap}\n")).unwrap_or_default()
            ));
        } else {
            // The status of the last line, which `set -e` ignores in a list such as `a && b`.
            script.push_str(&format!(
                "{text}\nCODE=$?\nif [ $CODE != 0 ]; then echo \"FAILED at $AT\" >&2; exit 1; fi\n"
            ));
        }
    }
    Some(script)
}

fn shell_blocks(document: &Document) -> Vec<(Block, Mode)> {
    let blocks = blocks(document).into_iter();
    blocks.filter_map(|block| block.mode().unwrap().map(|mode| (block, mode))).collect()
}

/// Says which blocks are skipped because a program is not installed, and leaves them out.
fn installed(mut blocks: Vec<(Block, Mode)>) -> Vec<(Block, Mode)> {
    blocks.retain(|(block, mode)| match mode.uses {
        Some(program) if find_program(program).is_none() => {
            skip(program, &block.at, &format!("the program {program} is not installed"));
            false
        }
        _ => true,
    });
    blocks
}

/// How many blocks are not run, by what they need.
fn left_out(all: &[(Block, Mode)]) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    for needs in all.iter().filter_map(|(_, mode)| mode.needs) {
        *counts.entry(needs).or_default() += 1;
    }
    let told = NEEDS.iter().filter_map(|(name, what)| Some((counts.get(name)?, what)));
    told.map(|(count, what)| format!("{count} need {what}")).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn the_commands_of_the_book_run() {
    let has = |program: &str| std::process::Command::new(program).arg("--version").output().is_ok();
    if !has("initdb") && !std::path::Path::new("/usr/lib/postgresql").exists() {
        return skip("pg", "the commands of the book", "no initdb found; apt install postgresql");
    }
    let mut documents = pages();
    documents.push(read("README.md"));
    let only = only();
    let machine = Arc::new(Machine::new().await);
    let (turns, pool) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::new(Pool::new(AT_ONCE)));
    let (mut all, mut running) = (Vec::new(), JoinSet::new());
    for document in documents.into_iter().filter(|one| one.path.contains(&only)) {
        let blocks = installed(shell_blocks(&document));
        all.extend(blocks.iter().cloned());
        let Some(script) = script(&blocks) else { continue };
        let (machine, turns) = (Arc::clone(&machine), Arc::clone(&turns));
        let pool = Arc::clone(&pool);
        running.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            let begun = Instant::now();
            let ports = pool.take();
            let in_repository = document.path == "README.md";
            let ran = machine.run(&ports.replaced(&script), &ports, in_repository).await;
            pool.give_back(ports);
            (document.path, begun.elapsed(), ran)
        });
    }
    let mut failed = Vec::new();
    while let Some(page) = running.join_next().await {
        let (path, took, ran) = page.unwrap();
        let word = if ran.is_good { "ok" } else { "FAILED" };
        println!("{path}: {word}, {:.1} s", took.as_secs_f64());
        if !ran.is_good {
            failed.push(format!("== {path}\n{}", ran.said));
        }
    }
    let ran = all.iter().filter(|(_, mode)| mode.needs.is_none()).count();
    println!("{ran} of {} blocks ran; {}", all.len(), left_out(&all));
    assert!(ran > 0, "no page has {only} in its name");
    assert!(failed.is_empty(), "\n{}\n", failed.join("\n\n"));
}

/// A part of the names of the pages to run; all without it.
#[expect(clippy::disallowed_methods, reason = "a switch for those who write a page")]
fn only() -> String {
    std::env::var("BOOK_PAGE").unwrap_or_default()
}

#[test]
fn a_page_ends_at_its_first_failure_and_where_a_failure_is_missing() {
    let block =
        |text: &str| Block { at: "here".to_owned(), text: text.to_owned(), ..Block::default() };
    let good = Mode::default();
    let fails = Mode { fails: true, ..good };
    let needs = Mode { needs: Some("containers"), ..good };
    let run = |blocks: &[(Block, Mode)]| {
        let script = script(blocks).unwrap();
        let ran = std::process::Command::new("bash").arg("-c").arg(script).output().unwrap();
        ran.status.success()
    };
    assert!(run(&[(block("A=1"), good), (block("[ $A = 1 ]"), good)]), "one shell for the page");
    assert!(!run(&[(block("false\ntrue"), good)]), "a command in the middle");
    assert!(!run(&[(block("false | cat\ntrue"), good)]), "a part of a pipe");
    assert!(!run(&[(block("false && true"), good)]), "the last list");
    assert!(run(&[(block("false"), fails), (block("true"), good)]));
    assert!(!run(&[(block("true"), fails), (block("true"), good)]));
    assert!(run(&[(block("exit 1"), needs), (block("true"), good)]));
    assert_eq!(script(&[(block("true"), needs)]), None);
}
