//! `bancada ui`: the studies of a folder as a page in a browser on the same machine.
//!
//! The server renders every page and every part of one; one small script asks for parts and puts them
//! in place. What a page shows and does is `workbench`'s: this crate has no arithmetic on results.
//!
//! Read in this order: `guard` (who is answered at all), `server` (connections), `route` (what is
//! asked), `html` (text that cannot become markup), then the pages: `index`, `study`, `live` (runs in
//! progress), `editor`, `decision`, `compare`, `run`.

mod ask;
mod compare;
mod decision;
mod editor;
mod guard;
mod html;
mod index;
mod live;
mod page;
mod pages;
mod route;
mod run;
mod series;
mod server;
mod shared;
mod stream;
mod study;

pub use server::{Options, Server, UiError};
