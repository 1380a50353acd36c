//! Should this program be killed, the kernel ends the workers' first processes, but not what
//! those have started. A shell that waits for the end of a pipe does that.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Each line names all that lives: process groups (`-12`) and lists of processes (`/…`). When no
/// more lines come, what the last one named is ended; thrice, as it may still be starting others.
const SCRIPT: &str = r#"
while read -r line; do living=$line; done
for _ in 1 2 3; do
    for one in $living; do
        case $one in
            /*) for pid in $(cat "$one"); do kill -KILL "$pid"; done ;;
            *) kill -KILL -- "$one" ;;
        esac
    done
done"#;

/// None where there is no shell: workers' first processes are all that is ended then.
#[derive(Debug)]
pub(crate) struct Guard {
    shell: Mutex<Option<Shell>>,
}

#[derive(Debug)]
struct Shell {
    child: Child,
    /// Taken to close it.
    input: Option<ChildStdin>,
}

impl Guard {
    pub(crate) fn start() -> Guard {
        let started = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is not meant for it.
            .process_group(0)
            .spawn();
        let shell = started.ok().map(|mut child| Shell {
            input: child.stdin.take(),
            child,
        });
        Guard {
            shell: Mutex::new(shell),
        }
    }

    /// From now on these, and no others.
    pub(crate) fn watch(&self, living: &[String]) {
        let mut shell = self.shell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(input) = shell.as_mut().and_then(|shell| shell.input.as_mut()) {
            // One that was killed itself guards no more.
            let _ = input.write_all(format!("{}\n", living.join(" ")).as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let shell = self.shell.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(shell) = shell {
            drop(shell.input.take());
            let _ = shell.child.wait();
        }
    }
}
