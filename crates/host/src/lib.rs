//! The basics that every program on a host needs, written once: files that are there complete or
//! not at all, locks, child processes that end in time or have a terminal of their own, what tells processes apart,
//! words for a shell, digests; and what a process may use of its machine (`limits`).

mod child;
mod digest;
mod files;
pub mod limits;
mod lock;
mod process;
pub mod shell;
pub mod terminal;
mod unfinished;

pub use child::{Answer, Group, ask, ask_with};
pub use digest::{Digest, Digester, hex};
pub use files::{
    copy_whole, create_private, create_private_folder, open_regular, read_regular, sync_folder,
    sync_tree, write_private, write_whole, write_whole_by,
};
pub use lock::{FileLock, LockError, lock_holder};
pub use process::{boot_id, start_ticks, start_ticks_in};
pub use unfinished::{Leftover, Unfinished, leftovers};
