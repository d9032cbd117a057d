//! Scripts that mean harm, or were written late at night: each ends soon, with a clear flaw.

use std::time::{Duration, Instant};

use engine::{Flaw, Language};

use super::JavaScript;
use crate::stage::furnished;

/// The flaw of a script that has to end well before anyone worries.
fn stopped(source: &str) -> Flaw {
    stopped_within(source, Duration::from_millis(300))
}

fn stopped_within(source: &str, time_max: Duration) -> Flaw {
    let began = Instant::now();
    let language = JavaScript::with_time(time_max);
    let flaw = language.evaluate(source, &mut furnished()).expect_err(source);
    let took = began.elapsed();
    assert!(took < time_max + Duration::from_secs(20), "{source} took {took:?}");
    flaw
}

fn check(sources: &[&str], reason: &str) {
    let patient = Duration::from_secs(if reason == "ran too long" { 0 } else { 30 });
    for source in sources {
        let flaw = stopped_within(source, patient.max(Duration::from_millis(300)));
        assert!(flaw.message.contains(reason), "{source}: {flaw:?}");
    }
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
fn functions_without_a_clock_are_measured_beforehand() {
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
    check(&["let a = []; for (let i = 0; i < 500; i++) a = [a]; a"], "JSON");
    check(&["for (let i = 0; i < 100; i++) createEventTriggerUrl('e' + i)"], "more than 64");
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
        assert_eq!(language.evaluate("1 + 1", &mut furnished()).unwrap(), 2);
    }
}
