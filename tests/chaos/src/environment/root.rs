//! What only root may do on Linux: namespaces of the network and of mounts, small file systems.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Whether this process may do it. Prints a line if not.
pub(crate) fn is_root(what: &str) -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    let is_root = cfg!(target_os = "linux") && id.stdout.trim_ascii() == b"0";
    if !is_root {
        testkit::skip("root", what, "it needs root on Linux");
    }
    is_root
}

/// Whether the program is installed. Prints a line if not.
pub(crate) fn has(program: &str, package: &str) -> bool {
    let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
    let is_there = folders.iter().any(|folder| Path::new(folder).join(program).is_file());
    if !is_there {
        testkit::skip(program, program, &format!("it is not installed; apt install {package}"));
    }
    is_there
}

/// Runs a command line, which has to succeed.
pub(crate) fn run(line: &str) {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin");
    let ran = command.args(words).output().unwrap();
    assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A small file system in memory; it is gone when this value is dropped.
pub(crate) struct SmallDisk {
    folder: PathBuf,
    directory: Option<TempDir>,
}

impl SmallDisk {
    /// With this many MiB, on a folder of its own.
    pub(crate) fn new(mebibytes: u32) -> Self {
        let directory = tempfile::Builder::new().prefix("staunch-disk-").tempdir().unwrap();
        let mut disk = Self::over(directory.path(), mebibytes);
        disk.directory = Some(directory);
        disk
    }

    /// Over an existing folder, whose files move onto it.
    pub(crate) fn over(folder: &Path, mebibytes: u32) -> Self {
        let aside = tempfile::Builder::new().prefix("staunch-aside-").tempdir().unwrap();
        let (place, aside) = (folder.display(), aside.path().display());
        run(&format!("cp -a {place}/. {aside}/"));
        run(&format!("mount -t tmpfs -o size={mebibytes}m none {place}"));
        run(&format!("cp -a {aside}/. {place}/"));
        // The owner and the mode of the folder itself.
        run(&format!("chown --reference={aside} {place}"));
        run(&format!("chmod --reference={aside} {place}"));
        Self { folder: folder.to_owned(), directory: None }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes until there is no room for another byte.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.folder.join("filler")).unwrap();
        for size in [1 << 20, 4096, 1] {
            let chunk = vec![7; size];
            while file.write_all(&chunk).is_ok() {}
        }
    }

    /// Makes room again.
    pub(crate) fn make_room(&self) {
        std::fs::remove_file(self.folder.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that still ends may have files open.
        drop(Command::new("umount").arg("-l").arg(&self.folder).output());
    }
}

/// A network of its own, with one way to this machine. It is gone when this value is dropped.
pub(crate) struct Network {
    /// Its namespace ends with this process.
    keeper: Child,
    /// This machine's end of the way, and its address.
    near: String,
    pub(crate) here: String,
    /// The address of the other end.
    pub(crate) there: String,
}

impl Network {
    pub(crate) fn new() -> Self {
        let mut keeper = Command::new("unshare");
        // The pipe ends with this process, and `cat` with the pipe.
        keeper.args(["--net", "cat"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let keeper = keeper.spawn().unwrap();
        let pid = keeper.id();
        let number = pid % 250;
        let (near, far) = (format!("sn{pid}"), format!("sf{pid}"));
        let (here, there) = (format!("10.98.{number}.1"), format!("10.98.{number}.2"));
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        let theirs = format!("/proc/{pid}/ns/net");
        while std::fs::read_link(&theirs).is_ok_and(|namespace| namespace == own) {
            std::thread::yield_now();
        }
        run(&format!("ip link add {near} type veth peer name {far} netns {pid}"));
        run(&format!("ip addr add {here}/24 dev {near}"));
        run(&format!("ip link set {near} up"));
        let network = Self { keeper, near, here, there };
        network.inside(&format!("ip addr add {}/24 dev {far}", network.there));
        network.inside(&format!("ip link set {far} up"));
        network.inside("ip link set lo up");
        network
    }

    /// Runs a command line within it.
    pub(crate) fn inside(&self, line: &str) {
        run(&format!("{} {line}", self.under().join(" ")));
    }

    /// The command that runs others within it.
    pub(crate) fn under(&self) -> Vec<String> {
        ["nsenter", "--net", "--target", &self.keeper.id().to_string()].map(str::to_owned).to_vec()
    }

    /// Cuts the way: no packet arrives, and no answer says so.
    pub(crate) fn cut(&self) {
        run(&format!("ip link set {} down", self.near));
    }

    /// Ends the cut.
    pub(crate) fn heal(&self) {
        run(&format!("ip link set {} up", self.near));
    }

    /// Drops this percentage of the packets, in each direction.
    pub(crate) fn lose(&self, percent: u32) {
        self.inside("nft add table inet loss");
        for hook in ["input", "output"] {
            self.inside(&format!(
                "nft add chain inet loss {hook} {{ type filter hook {hook} priority 0 ; }}"
            ));
            self.inside(&format!(
                "nft add rule inet loss {hook} oifname != lo numgen random mod 100 < {percent} counter drop"
            ));
        }
    }

    /// No packet is lost any more.
    pub(crate) fn keep_all(&self) {
        self.inside("nft delete table inet loss");
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        drop(self.keeper.kill());
        drop(self.keeper.wait());
    }
}
