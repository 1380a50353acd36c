//! What a coordinator and an agent say to each other over a pipe: a line of JSON, and as many bytes
//! after it as the line says.

use std::io::{self, BufRead, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use model::Order;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::PlaceError;
use crate::runs::Progressed;
use crate::{Cancel, Description, Prepared, Ticket};

/// Raised whenever an older agent would misunderstand.
pub(crate) const PROTOCOL: u32 = 1;
/// A longer line is nonsense, or an attack on our memory.
const LONGEST_LINE: u64 = 256 << 20;
/// Whoever works longer than this on a request says so again and again.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(1);
/// No request is held longer, so that a dead connection is noticed.
pub(crate) const LONGEST_LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Frame<T> {
    pub(crate) message: T,
    /// That follow the line.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) bytes: u64,
}

fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// The first line of an agent. What a login shell prints before it is passed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) bancada_agent: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    Describe,
    /// What the machine lacks for these orders.
    Lacks {
        orders: Vec<Order>,
    },
    /// An environment of a framework, or a dataset, made or fetched by the machine itself.
    Bring(Lack),
    Prepare {
        orders: Vec<Order>,
    },
    /// Which of these are not there.
    Missing {
        files: Vec<FileOf>,
    },
    /// Followed by the bytes of the file.
    Put(FileOf),
    Start {
        order: Box<Order>,
    },
    Follow {
        ticket: Ticket,
        position: u64,
        patience_seconds: f64,
    },
    Cancel {
        ticket: Ticket,
        how: Cancel,
    },
    /// All files of an ended order, but for those that are home already.
    Fetch {
        ticket: Ticket,
        have: Vec<FileOf>,
    },
    CleanUp {
        ticket: Ticket,
    },
    /// Cleans up every order but these.
    Sweep {
        keep: Vec<String>,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// The answer is still to come.
    Working,
    Done,
    Described(Box<Description>),
    Lacking(Lacking),
    Prepared(Prepared),
    Missing {
        files: Vec<FileOf>,
    },
    Started {
        ticket: Ticket,
    },
    Followed(Progressed),
    /// Followed by the bytes of these files, one after the other.
    Fetched {
        files: Vec<FileOf>,
        no_measurement: Option<PlaceError>,
    },
    Failed(PlaceError),
}

/// A file at the agent's machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileOf {
    pub(crate) folder: Folder,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_program: bool,
}

/// What the path of a [`FileOf`] is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Folder {
    /// The study file's.
    Study,
    /// Of an order.
    Run,
    /// Bancada's cache, for datasets.
    Cache,
}

/// What a machine lacks and can be brought.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// The environment of a framework or serving stack, by the name that `bancada setup` takes.
    Environment {
        name: String,
        gpu: bool,
    },
    Dataset {
        name: String,
    },
}

/// What a machine lacks for some orders.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lacking {
    pub can_be_brought: Vec<Lack>,
    /// Sentences on what nobody can bring: programs of a command, Python.
    pub own: Vec<String>,
}

/// A path that stays in the folder it is relative to.
pub(crate) fn stays_inside(path: &Path) -> bool {
    let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
    path.components().next().is_some() && path.components().all(is_name)
}

pub(crate) fn send<T: Serialize>(to: &mut dyn Write, message: T, bytes: u64) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Frame { message, bytes })?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// None where the other end has closed.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut dyn BufRead) -> io::Result<Option<Frame<T>>> {
    let Some(line) = receive_line(from)? else {
        return Ok(None);
    };
    let parsed = serde_json::from_slice(&line);
    parsed.map(Some).map_err(|error| {
        let start: String = String::from_utf8_lossy(&line).chars().take(80).collect();
        let why = format!("not understood: {error}: {start}");
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

pub(crate) fn receive_line(from: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_a_line_and_its_bytes() {
        let mut pipe = Vec::new();
        let wish = Request::Cancel {
            ticket: Ticket("a\nb".into()),
            how: Cancel::Now,
        };
        send(&mut pipe, &wish, 3).unwrap();
        pipe.extend(b"xyz{\"message\"");
        let mut from = pipe.as_slice();
        let frame: Frame<Request> = receive(&mut from).unwrap().unwrap();
        assert_eq!(frame.bytes, 3);
        assert!(matches!(frame.message, Request::Cancel { ticket, .. } if ticket.0 == "a\nb"));
        from.consume(3);
        assert!(receive::<Request>(&mut from).is_err(), "half a line");
        assert!(receive::<Request>(&mut &b""[..]).unwrap().is_none());
        assert!(receive::<Request>(&mut &b"hello\n"[..]).is_err());
    }

    #[test]
    fn paths_that_leave_their_folder_are_known() {
        for good in ["a", "a/b.txt", ".hidden", "a b/\u{e9}"] {
            assert!(stays_inside(Path::new(good)), "{good}");
        }
        for bad in ["", "/", "/etc/passwd", "..", "a/../../b", "./a/..", "../a"] {
            assert!(!stays_inside(Path::new(bad)), "{bad}");
        }
    }
}
