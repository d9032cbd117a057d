//! Scripts that would take all time or memory: each ends at its limit, with a clear flaw.

use std::time::{Duration, Instant};

use engine::{Flaw, Language};
use serde_json::json;

use super::JavaScript;
use crate::stage::furnished;

/// The longest delay between the limit of a script and its flaw, on a machine with other work to
/// do.
const LATE_MAX: Duration = Duration::from_secs(3);

/// The flaw of a script that is ended at its limit.
fn stopped(source: &str) -> Flaw {
    stopped_within(source, Duration::from_millis(300))
}

fn stopped_within(source: &str, time_max: Duration) -> Flaw {
    let began = Instant::now();
    let language = JavaScript::with_time(time_max);
    let flaw = language.evaluate(source, &mut furnished()).expect_err(source);
    let took = began.elapsed();
    // The text is parsed first, within its own time limit.
    assert!(took < 2 * time_max + LATE_MAX, "{source} took {took:?}");
    flaw
}

fn check(sources: &[&str], reason: &str) {
    let patient = Duration::from_secs(if reason == "ran too long" { 0 } else { 120 });
    for source in sources {
        let flaw = stopped_within(source, patient.max(Duration::from_secs(1)));
        assert!(flaw.message.contains(reason), "{source}: {flaw:?}");
    }
}

/// The longest native functions that end by themselves, so that their threads do not outlive the
/// tests.
#[test]
fn native_functions_that_are_not_interrupted_are_left_behind() {
    check(
        &[
            "(2n**1000000n).toString()",
            "`${2n**1000000n}`",
            "const s = 'x'.repeat(9000000); while (true) s.lastIndexOf('y')",
            "const s = 'x'.repeat(9000000); while (true) s.toUpperCase()",
            "const a = new Uint8Array(9000000); while (true) a.reverse()",
            "const a = 2n**500000n; while (true) a * a",
            "const a = new Array(400000).fill(0); while (true) a.slice()",
        ],
        "ran too long",
    );
}

#[test]
fn a_thread_that_is_left_behind_holds_nobody_up() {
    let language = JavaScript::with_time(Duration::from_millis(300));
    let flaw = language.evaluate("(2n**1000000n).toString()", &mut furnished()).unwrap_err();
    assert!(flaw.message.contains("ran too long"), "{flaw:?}");
    assert_eq!(language.threads.given_up(), 1);
    assert_eq!(language.evaluate("[1].map(x => x)", &mut furnished()).unwrap(), json!([1]));
    // The thread returns when its function ends.
    while language.threads.given_up() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn the_guard_cannot_be_deceived() {
    for source in [
        "[].reverse.call({ get length() { return this.n++ ? 2 ** 53 - 1 : 0 }, n: 0 })",
        "[].reverse.call({ __proto__: { get length() { return 2 ** 53 - 1 } } })",
        "[].reverse.call({ length: { valueOf() { return 2 ** 53 - 1 } } })",
        "[].reverse.call(new Proxy([], {})).length",
        "Array.prototype.some = () => false; Array.isArray = () => false; new Array(4294967295).shift()",
        "RangeError = String; Reflect.apply = null; new Array(4294967295).reverse()",
        "[new Array(4294967295)].flat()",
        "[1].flatMap(() => new Array(4294967295))",
        "[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })",
        "[].values.call({ length: 2 ** 53 - 1 }).drop(2 ** 52).next()",
        "const t = { toString: () => 'x'.repeat(4000000) + 'y' }; 'x'.repeat(9000000).indexOf(t)",
        "'\\u0301\\u0327'.repeat(3000000).normalize('NFD')",
    ] {
        let flaw = stopped_within(source, Duration::from_secs(10));
        assert!(!flaw.message.contains("ran too long"), "{source}: {flaw:?}");
    }
}

#[test]
fn the_guard_changes_no_answer() {
    let language = JavaScript::new();
    for (source, expected) in [
        (
            "const a = [1, [2, [3, [4]]]]; [a.flat(), a.flat(2), a.flat(Infinity).length, a.length]",
            json!([[1, 2, [3, [4]]], [1, 2, 3, [4]], 4, 2]),
        ),
        ("[1, 2].flatMap((x, at, all) => [x, [at, all.length]])", json!([1, [0, 2], 2, [1, 2]])),
        ("[3, 1, 2].sort().concat([4], 5, 'length')", json!([1, 2, 3, 4, 5, "length"])),
        ("(function () { return [].slice.call(arguments, 1).length })(1, 2, 3)", json!(2)),
        ("[].join.call('abc', '-') + 'length'", json!("a-b-clength")),
        (
            "['a-b-a'.split('-'), 'aba'.replaceAll('a', x => x + '!'), 'aba'.indexOf('b', 1)].length && 'aba'.replaceAll('a', x => x + '!')",
            json!("a!ba!"),
        ),
        ("'a1b2'.replace(/\\d/g, '').length + 'a1b2'.split(/\\d/).length", json!(5)),
        ("'undefined'.length && 'is undefined'.indexOf(undefined)", json!(3)),
        ("'length'.split().length", json!(1)),
        ("new Uint8Array([3, 1, 2]).slice().sort().join() + 'x'.length", json!("1,2,31")),
    ] {
        let answer = language.evaluate(source, &mut furnished());
        assert_eq!(
            answer.unwrap_or_else(|flaw| panic!("{source}: {flaw:?}")),
            expected,
            "{source}"
        );
    }
    let flaw = language.evaluate("'length'.includes(/x/)", &mut furnished()).unwrap_err();
    assert!(flaw.message.starts_with("TypeError"), "{flaw:?}");
}

#[test]
fn endless_loops_are_stopped() {
    check(
        &[
            "while (true) {}",
            "for (;;) { try { null.x } catch {} }",
            "while (true) { try { while (true) {} } catch {} finally { continue } }",
            "return (function f() { while (true); })()",
            "const f = () => { Promise.resolve().then(f) }; f(); new Promise(() => {})",
            "await (async () => { while (true) await null })()",
            "({ get x() { while (true); } })",
            "({ toJSON() { while (true); } })",
            "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { while (true); } }); throw e",
            "/(a+)+$/.test('a'.repeat(40) + '!')",
            "/(?:a|aa)+$/.test('a'.repeat(60) + 'b')",
            "new Array(4294967295).forEach(x => x)",
            "[].indexOf.call({ length: 9007199254740991 }, 1)",
            "new Proxy({}, { get() { for (;;); } }).x",
            "let n = 3n; for (;;) { n = n * n % 1000007n }",
        ],
        "ran too long",
    );
    stopped("throw { toString() { while (true); } }");
}

#[test]
fn too_much_memory_is_refused() {
    check(
        &[
            "const l = []; while (true) l.push(new Array(1000).fill(0))",
            "const f = () => Promise.resolve().then(f); f()",
            "'x'.repeat(100 * 1024 * 1024)",
            "new Uint8Array(1 << 30)",
            "new ArrayBuffer(100 * 1024 * 1024)",
            "let d = [0]; for (let i = 0; i < 40; i++) d = [d, d]; d",
            "[...function* () { while (true) yield 'text'; }()]",
            "const m = new Map(); for (let i = 0; ; i++) m.set(i, String(i))",
            "Array.from({ length: 1e9 }, (_, i) => i)",
            "'a'.padEnd(1 << 28, 'ab')",
        ],
        "memory",
    );
}

#[test]
fn deep_recursion_is_refused() {
    check(
        &["function f() { return f() + 1 } f()", "const o = { get a() { return this.a } }; o.a"],
        "too deeply",
    );
    for source in [
        "let a = []; for (let i = 0; i < 100000; i++) a = [a]; a".to_owned(),
        "(".repeat(100_000),
        format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{}1", "-".repeat(100_000)),
        format!("{}1", "a=>".repeat(50_000)),
        format!("/{}/", "(".repeat(100_000)),
        format!("/{}a{}/.test('a')", "(".repeat(50_000), ")".repeat(50_000)),
        format!("return {}1", "x ? ".repeat(50_000)),
        format!("JSON.parse('{}')", "[".repeat(100_000)),
    ] {
        stopped(&source);
    }
}

#[test]
fn native_functions_are_refused_what_is_too_long_for_them() {
    for source in [
        "const a = []; a.length = 4294967295; a.reverse()",
        "const a = []; a[4294967290] = 1; a.sort()",
        "new Array(4294967295).slice().length",
        "new Array(4294967295).shift()",
        "Array.prototype.concat(new Array(4294967295)).length",
        "'x'.repeat(9000000).indexOf('x'.repeat(4000000) + 'y')",
        "'x'.repeat(9000000).replaceAll('x'.repeat(4000000) + 'y', '')",
        "'x'.repeat(9000000).split('x'.repeat(4000000) + 'y')",
    ] {
        stopped(source);
    }
}

#[test]
fn there_is_no_way_out() {
    for source in [
        "require('fs')",
        "process.exit(1)",
        "import('fs')",
        "fetch('http://localhost')",
        "std.exit(1)",
        "os.exec(['true'])",
        "Deno.exit()",
        "print(1)",
        "importScripts('x')",
        "setTimeout(() => 1, 10)",
        "scriptArgs",
        "new Worker('x')",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)",
    ] {
        stopped(source);
    }
}

#[test]
fn what_cannot_be_stored_is_refused() {
    check(&["const o = {}; o.o = o; o"], "circular");
    check(&["'\\ud800'"], "surrogate");
    check(&["let s = 'x'; while (true) s += s + '1'"], "string too long");
    check(&["'x'.repeat(9 * 1024 * 1024)", "['x'.repeat(9 * 1024 * 1024)]"], "larger than");
    check(&["let a = []; for (let i = 0; i < 64; i++) a = [a]; a"], "more than 64 deep");
    check(&["for (let i = 0; i < 100; i++) createEventTriggerUrl('e' + i)"], "more than 64");
    check(&["for (let i = 0; i < 100; i++) createBookmarkTriggerUrl('a' + i)"], "more than 64");
    check(&["createBookmarkTriggerUrl('nobody')"], "there is no activity nobody");
}

#[test]
fn a_text_that_is_too_long_is_not_even_read() {
    let source = "1 + ".repeat(100_000) + "1";
    assert!(stopped(&source).message.contains("longer than 256 KiB"));
}

#[test]
fn the_engine_survives_all_of_it() {
    let language = JavaScript::with_time(Duration::from_millis(50));
    for _ in 0..20 {
        for source in ["while (true) {}", "'x'.repeat(1e8)", "(function f() { f() })()"] {
            assert!(language.evaluate(source, &mut furnished()).is_err());
        }
        // On a busy machine a script may have to wait longer than its time for the processor.
        let sum = (0..100).find_map(|_| match language.evaluate("1 + 1", &mut furnished()) {
            Err(flaw) if flaw.message.contains("too long") => None,
            ended => Some(ended),
        });
        assert_eq!(sum.unwrap().unwrap(), 2);
    }
}
