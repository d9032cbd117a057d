//! Lets libFuzzer look for bytes that one target takes badly: `fuzz <options of libFuzzer>`, with the
//! name of the target in `STAUNCH_FUZZ_TARGET`.

#![no_main]

use std::sync::OnceLock;

use fuzz::Target;

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fn target() -> &'static Target {
    TARGET.get_or_init(|| {
        let name = std::env::var_os("STAUNCH_FUZZ_TARGET").unwrap_or_default();
        let found = name.to_str().and_then(Target::named);
        assert!(found.is_some(), "STAUNCH_FUZZ_TARGET is {name:?}, which is no target");
        found.unwrap_or(&fuzz::TARGETS[0])
    })
}

libfuzzer_sys::fuzz_target!(
    init: {
        // Its hook ends the process at every panic, also at one that Staunch turns into an error.
        drop(std::panic::take_hook());
    },
    |bytes: &[u8]| {
        let end = target().feed(bytes);
        assert!(end.is_ok(), "{end:?}");
    }
);
