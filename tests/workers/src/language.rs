//! The programs of the languages: installed as a user installs them, in a folder of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::skip;

/// How the conformance program of a language is run.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    command: Vec<String>,
    variables: Vec<(&'static str, String)>,
    _folder: TempDir,
}

impl Program {
    pub(crate) fn command(&self) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.command[0]);
        command.args(&self.command[1..]).envs(self.variables.iter().cloned());
        command
    }
}

/// The program in Python: `pip` installs the package from its folder.
pub(crate) fn python() -> Option<Program> {
    let folder = folder();
    let (package, installed) = (folder.path().join("package"), folder.path().join("installed"));
    copy("shared/clients/python", &package);
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]);
    if let Err(why) = run(pip.arg(&installed).arg(&package)) {
        skip("pip", "workers in Python", &why);
        return None;
    }
    let worker = folder.path().join("worker.py");
    copy("tests/workers/python/worker.py", &worker);
    Some(Program {
        name: "Python",
        command: vec!["python3".to_owned(), text(&worker)],
        variables: vec![("PYTHONPATH", text(&installed)), ("PYTHONUNBUFFERED", "1".to_owned())],
        _folder: folder,
    })
}

/// The program in TypeScript: `npm` builds and packs the package, and installs it. The compiler checks
/// that the program uses its types rightly.
pub(crate) fn typescript() -> Option<Program> {
    let folder = folder();
    let (package, program) = (folder.path().join("package"), folder.path().join("program"));
    copy("shared/clients/typescript", &package);
    copy("tests/workers/typescript", &program);
    let quiet = ["--silent", "--no-audit", "--no-fund"];
    let npm = |arguments: &[&str], within: &Path| {
        run(Command::new("npm").args(arguments).args(quiet).current_dir(within))
    };
    let installed = npm(&["install"], &package)
        .and_then(|()| npm(&["pack", "--pack-destination", &text(folder.path())], &package))
        .and_then(|()| npm(&["install", "../staunch-client-0.1.0.tgz"], &program));
    if let Err(why) = installed {
        skip("npm", "workers in TypeScript", &why);
        return None;
    }
    let mut tsc = Command::new(package.join("node_modules/.bin/tsc"));
    tsc.args(["--noEmit", "--allowJs", "--strict", "--skipLibCheck", "--target", "ES2022"]);
    tsc.args(["--module", "NodeNext", "--typeRoots"]);
    tsc.arg(package.join("node_modules/@types")).arg("worker.js").current_dir(&program);
    run(&mut tsc).unwrap();
    let command = vec!["node".to_owned(), text(&program.join("worker.js"))];
    Some(Program { name: "TypeScript", command, variables: Vec::new(), _folder: folder })
}

/// The program in Go, whose module finds that of the client beside it.
pub(crate) fn go() -> Option<Program> {
    let folder = folder();
    for part in ["shared/clients/go", "tests/workers/go"] {
        copy(part, &folder.path().join(part));
    }
    let program = folder.path().join("worker");
    let mut go = Command::new("go");
    go.arg("build").arg("-o").arg(&program).current_dir(folder.path().join("tests/workers/go"));
    if let Err(why) = run(&mut go) {
        skip("go", "workers in Go", &why);
        return None;
    }
    let mut vet = Command::new("go");
    run(vet.args(["vet", "./..."]).current_dir(folder.path().join("shared/clients/go"))).unwrap();
    let command = vec![text(&program)];
    Some(Program { name: "Go", command, variables: Vec::new(), _folder: folder })
}

/// The program in Rust, an example of this crate: cargo builds it with the tests.
pub(crate) fn rust() -> Option<Program> {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().unwrap().parent().unwrap().join("examples/conformance-worker");
    assert!(built.is_file(), "cargo builds {} with this test", built.display());
    let (command, variables) = (vec![text(&built)], vec![("RUST_LOG", "info".to_owned())]);
    Some(Program { name: "Rust", command, variables, _folder: folder() })
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("staunch-workers-").tempdir().unwrap()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Copies a file or folder of the repository, without what was built in it.
fn copy(part: &str, to: &Path) {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    copy_to(&root.join(part), to);
}

fn copy_to(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        if !["node_modules", "dist", "build", "package-lock.json"].iter().any(|it| name == *it) {
            copy_to(&from.join(&name), &to.join(&name));
        }
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let ran = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    let said = [ran.stdout, ran.stderr].concat();
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&said).trim()))
}
