//! If this program is killed, the kernel ends the processes it started, but not
//! their children. A shell that waits for the end of a pipe ends those.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Of what is known by its variable alone: a process that is about to be started has no number yet.
pub const BY_MARK: &str = "by-mark";

/// Each line names all that lives: process groups (`-12`), lists of processes (`/…`), or
/// [`BY_MARK`]. When no more lines come, what the last one named is ended, and where it named no
/// list, whoever has the variable that marks it; thrice, as it may still be starting others.
const SCRIPT: &str = r#"
while read -r line; do living=$line; done
for _ in 1 2 3; do
    for one in $living; do
        case $one in
            /*)
                folder=${one%/*}
                [ -e "$folder/cgroup.kill" ] && echo 1 > "$folder/cgroup.kill"
                [ -e "$folder/freezer.state" ] && echo FROZEN > "$folder/freezer.state"
                for pid in $(cat "$one"); do kill -KILL "$pid"; done
                [ -e "$folder/freezer.state" ] && echo THAWED > "$folder/freezer.state"
                rmdir "$folder" ;;
            -*) kill -KILL -- "$one" ;;
        esac
    done
    # A list has them all. The mark would also find the same run begun anew by the next program.
    case $living in */*) continue ;; esac
    [ -n "$living" ] && [ -n "$BANCADA_GUARDED" ] || continue
    for file in $(grep -lzxF -e "$BANCADA_GUARDED" /proc/[0-9]*/environ); do
        pid=${file#/proc/}
        kill -KILL "${pid%/environ}"
    done
done
# A container is no process of ours: its engine has to be asked.
[ -n "$living" ] && [ $# -gt 0 ] && "$@"
"#;
/// In the shell's own variables: `NAME=value` of those to end.
const MARK_VARIABLE: &str = "BANCADA_GUARDED";

/// None where there is no shell: first processes are all that is ended then.
#[derive(Debug)]
pub struct Guard {
    shell: Mutex<Option<Shell>>,
}

#[derive(Debug)]
struct Shell {
    child: Child,
    /// Taken to close it.
    input: Option<ChildStdin>,
}

impl Guard {
    /// `mark` is a variable, as `NAME=value`, that all it shall end have and nobody else; `last` a
    /// command that ends what is no process of this program.
    pub fn start(mark: Option<&OsStr>, last: &[String]) -> Guard {
        let started = Command::new("/bin/sh")
            .env(MARK_VARIABLE, mark.unwrap_or_default())
            .args(["-c", SCRIPT, "guard"])
            .args(last)
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
    pub fn watch(&self, living: &[String]) {
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
