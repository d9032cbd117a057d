//! The imports between the files of a crate: `use` items and paths in the code, read as text.
//!
//! A path leads to the file that defines the named item: through re-exports if the re-exporting
//! module lists the name, else to the module itself. Unit tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::source;
use crate::tree::File;

/// The number of re-exports that are followed: a name may be re-exported in a circle.
const HOPS_MAX: usize = 8;

/// A path of names, such as `crate::pipeline::commit`, or a module's place below its crate.
type Path = Vec<String>;

/// The modules of one crate.
#[derive(Default)]
pub(crate) struct Crate<'a> {
    /// Every file with its own module, by the module's place.
    modules: BTreeMap<Path, Module<'a>>,
}

struct Module<'a> {
    file: &'a str,
    /// Its code, and that of the modules within it, by their place in the file.
    parts: Vec<(Path, String)>,
    /// The names that each `use` item binds, with the paths that they stand for.
    names: BTreeMap<String, Path>,
}

/// Divides files into crates: a crate's root is a folder with `lib.rs` or `main.rs`.
pub(crate) fn crates(files: &[File]) -> Vec<Crate<'_>> {
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let is_root = |file: &&File| ["/lib.rs", "/main.rs"].iter().any(|end| file.path.ends_with(end));
    let roots: BTreeSet<_> = files.iter().filter(is_root).filter_map(|f| folder(&f.path)).collect();
    roots.iter().map(|root| Crate::below(root, &roots, files)).collect()
}

impl<'a> Crate<'a> {
    fn below(root: &str, roots: &BTreeSet<String>, files: &'a [File]) -> Self {
        let mut found = Self::default();
        for file in files {
            let inner = file.path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
            let Some(inner) = inner.and_then(|rest| rest.strip_suffix(".rs")) else { continue };
            let is_elsewhere = roots.iter().any(|other| {
                other.len() > root.len() && file.path.starts_with(&format!("{other}/"))
            });
            if is_elsewhere {
                continue;
            }
            let place: Path = match inner {
                "lib" => Path::new(),
                "main" if files.iter().any(|file| file.path == format!("{root}/lib.rs")) => {
                    continue;
                }
                "main" => Path::new(),
                inner => inner.split('/').map(str::to_owned).collect(),
            };
            let parts = source::modules(&source::code(&file.text));
            let outside = parts.iter().filter(|(inner, _)| inner.is_empty());
            let names = outside.flat_map(|(_, code)| source::uses(code));
            let names = names.map(|found| (found.name, found.segments)).collect();
            found.modules.insert(place, Module { file: &file.path, parts, names });
        }
        found
    }

    /// Every import between two files.
    pub(crate) fn imports(&self) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let mut imports = BTreeMap::new();
        for (place, module) in &self.modules {
            let mut targets = BTreeSet::new();
            for (inner, code) in &module.parts {
                let place: Path = place.iter().chain(inner).cloned().collect();
                for path in source::uses(code).into_iter().map(|found| found.segments) {
                    targets.extend(self.file_of(&place, &path, HOPS_MAX));
                }
                for path in source::paths(code) {
                    targets.extend(self.file_of(&place, &path, HOPS_MAX));
                }
            }
            targets.remove(module.file);
            imports.insert(module.file, targets);
        }
        imports
    }

    /// The file that defines the item of a path, as seen from a module.
    fn file_of(&self, from: &[String], path: &[String], hops: usize) -> Option<&'a str> {
        let (first, mut rest) = path.split_first()?;
        let mut place: Path = match first.as_str() {
            "crate" => Path::new(),
            "self" => from.to_vec(),
            "super" => from.split_last()?.1.to_vec(),
            child => {
                let place: Path = from.iter().cloned().chain([child.to_owned()]).collect();
                self.modules.contains_key(&place).then_some(place)?
            }
        };
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                place.pop();
            } else {
                let deeper: Path = place.iter().cloned().chain([next.clone()]).collect();
                if self.modules.contains_key(&deeper) {
                    place = deeper;
                } else {
                    return self.defined_in(&place, rest, hops);
                }
            }
            rest = after;
        }
        self.file_at(&place)
    }

    /// The file that defines a name of a module: another file if the module re-exports it.
    fn defined_in(&self, place: &[String], path: &[String], hops: usize) -> Option<&'a str> {
        let (name, after) = path.split_first()?;
        let named = self.modules.get(place).and_then(|module| module.names.get(name));
        if let (Some(named), true) = (named, hops > 0) {
            let whole: Path = named.iter().chain(after).cloned().collect();
            if let Some(file) = self.file_of(place, &whole, hops - 1) {
                return Some(file);
            }
        }
        self.file_at(place)
    }

    /// The file of a module; the file of the module around it if it has no file of its own.
    fn file_at(&self, place: &[String]) -> Option<&'a str> {
        (0..=place.len()).rev().find_map(|length| Some(self.modules.get(&place[..length])?.file))
    }
}

/// The groups of files that import each other, directly or through others.
pub(crate) fn circles<'a>(
    imports: &BTreeMap<&'a str, BTreeSet<&'a str>>,
) -> Vec<BTreeSet<&'a str>> {
    let reach: BTreeMap<_, _> =
        imports.keys().map(|file| (*file, reached(imports, file))).collect();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for (file, reached) in &reach {
        let circle: BTreeSet<_> =
            reached.iter().copied().filter(|other| reach[other].contains(file)).collect();
        if circle.len() > 1 && seen.insert(circle.clone()) {
            circles.push(circle);
        }
    }
    circles
}

fn reached<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<_> = imports[from].iter().copied().collect();
    while let Some(file) = open.pop() {
        if found.insert(file) {
            open.extend(&imports[file]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned(), is_test: false }
    }

    /// The imports of a made-up crate, without the folder and the ending.
    fn check(files: &[(&str, &str)], expected: &[(&str, &[&str])]) {
        let files: Vec<_> =
            files.iter().map(|(path, text)| file(&format!("x/src/{path}.rs"), text)).collect();
        let short = |path: &str| path["x/src/".len()..].replace(".rs", "");
        let found: Vec<_> = crates(&files)[0]
            .imports()
            .into_iter()
            .map(|(from, to)| (short(from), to.into_iter().map(short).collect::<Vec<_>>()))
            .filter(|(_, to)| !to.is_empty())
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(from, to)| ((*from).to_owned(), to.iter().map(|to| (*to).to_owned()).collect()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_path_leads_to_the_file_of_its_module() {
        check(
            &[
                ("lib", "mod a; mod b;"),
                ("a", "mod inner;\nuse crate::b::{self, Thing};\nfn f() { inner::g() }"),
                ("a/inner", "fn g() { super::f(); crate::b::h() }"),
                ("b", "// crate::a\nconst A: &str = \"crate::a::f\";"),
            ],
            &[("a", &["a/inner", "b"]), ("a/inner", &["a", "b"])],
        );
    }

    #[test]
    fn a_re_export_leads_to_the_file_that_defines() {
        check(
            &[
                ("lib", "mod a; mod b; pub use b::Thing;"),
                ("a", "mod deep;\npub(crate) use deep::Other as Renamed;"),
                ("a/deep", "use crate::Thing;"),
                ("b", "use crate::a::Renamed;"),
            ],
            &[("a", &["a/deep"]), ("a/deep", &["b"]), ("b", &["a/deep"]), ("lib", &["b"])],
        );
    }

    #[test]
    fn a_module_within_a_file_is_part_of_the_file() {
        check(
            &[
                ("lib", "mod a; fn top() {}"),
                ("a", "mod inner { use super::x; use super::super::top; }\nfn x() {}"),
            ],
            &[("a", &["lib"])],
        );
    }

    #[test]
    fn tests_at_the_end_of_a_file_import_what_they_like() {
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n";
        check(&[("lib", "mod a; mod b;"), ("a", tests), ("b", "")], &[]);
    }

    #[test]
    fn files_that_reach_each_other_are_one_circle() {
        let imports: BTreeMap<_, BTreeSet<_>> = [
            ("a", BTreeSet::from(["b"])),
            ("b", BTreeSet::from(["c", "d"])),
            ("c", BTreeSet::from(["a"])),
            ("d", BTreeSet::new()),
        ]
        .into();
        assert_eq!(circles(&imports), [BTreeSet::from(["a", "b", "c"])]);
    }
}
