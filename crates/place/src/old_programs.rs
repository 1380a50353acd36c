//! Programs that earlier versions of Bancada left on a host.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// In the root of a place whose orders are in a folder of the user's: that folder.
const ORDERS_FILE: &str = "orders-in";

/// Leaves word that the orders of the place at `root` are below `orders`.
pub fn note_orders(root: &Path, orders: &Path) -> std::io::Result<()> {
    host::write_whole(
        &root.join(ORDERS_FILE),
        orders.as_os_str().as_encoded_bytes(),
    )
}

/// Removes the programs beside `own`, which is `CACHE/bin/DIGEST`, unless one of them may be needed: a
/// process runs it, or an order is there whose worker may run it, perhaps on another node. One that
/// is removed although somebody is about to start it is copied again by whoever that is.
pub fn remove_old(own: &Path) {
    let Some(bin) = own.parent().filter(|_| is_digest(own.file_name())) else {
        return;
    };
    let Some(cache) = bin.parent().filter(|_| bin.ends_with("bin")) else {
        return;
    };
    let is_old = |path: &PathBuf| path != own && is_digest(path.file_name());
    let old: Vec<PathBuf> = paths_in(bin).filter(is_old).collect();
    if old.is_empty() || has_orders(cache) {
        return;
    }
    let running = paths_in(Path::new("/proc")).filter_map(|p| fs::read_link(p.join("exe")).ok());
    let running: Vec<PathBuf> = running.collect();
    for program in old.iter().filter(|program| !running.contains(program)) {
        // What cannot be removed takes room, and nothing else.
        _ = fs::remove_file(program);
    }
}

/// Of any study at this host: an order's folder is there from its start until it is home.
fn has_orders(cache: &Path) -> bool {
    paths_in(&cache.join("places")).any(|root| {
        let elsewhere = fs::read(root.join(ORDERS_FILE)).ok();
        let elsewhere = elsewhere.and_then(|bytes| String::from_utf8(bytes).ok());
        let roots = [Some(root), elsewhere.map(PathBuf::from)];
        let mut roots = roots.into_iter().flatten();
        roots.any(|root| paths_in(&root.join("runs")).next().is_some())
    })
}

fn paths_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn is_digest(name: Option<&OsStr>) -> bool {
    let name = name.and_then(OsStr::to_str).unwrap_or_default();
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn old_programs_go_when_nothing_needs_them() {
        let cache = tempfile::tempdir().unwrap();
        let bin = cache.path().join("bin");
        let root = cache.path().join("places/study-1");
        let orders = cache.path().join("shared");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(&root).unwrap();
        let program = |digit: &str| bin.join(digit.repeat(64));
        for digit in ["a", "b", "c"] {
            fs::copy("/bin/sleep", program(digit)).unwrap();
        }
        fs::write(bin.join("notes.txt"), "the user's").unwrap();
        let left = || paths_in(&bin).count();

        for runs in [root.join("runs"), orders.join("runs")] {
            note_orders(&root, &orders).unwrap();
            fs::create_dir_all(runs.join("order-1")).unwrap();
            remove_old(&program("a"));
            assert_eq!(left(), 4, "an order is there: {}", runs.display());
            fs::remove_dir(runs.join("order-1")).unwrap();
        }
        let mut running = Command::new(program("b")).arg("60").spawn().unwrap();
        remove_old(&bin.join("notes.txt"));
        assert_eq!(left(), 4, "not a program of ours");
        remove_old(&program("a"));
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(!program("c").exists() && program("b").exists());
        remove_old(&program("a"));
        assert_eq!(left(), 2);
        assert!(program("a").exists());
    }
}
