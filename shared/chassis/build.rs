//! Writes the names of all crates that may be part of this program, ours and others, one a line.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let locked = fs::read_to_string(&lock)?;
    let names = locked.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let names: BTreeSet<&str> = names.collect();
    if !names.contains("chassis") {
        return Err(format!("{} names no crate of this workspace", lock.display()).into());
    }
    let out = env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?;
    let names = Vec::from_iter(names).join("\n");
    fs::write(Path::new(&out).join("crates.txt"), names)?;
    Ok(())
}
