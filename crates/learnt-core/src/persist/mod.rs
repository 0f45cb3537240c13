//! The model file: data, never code.
//!
//! [`Stored`] turns a value into a tree of plain values and arrays ([`Node`]); [`mod@file`] writes that
//! tree as bytes and reads it back with every length checked before anything is allocated.

pub mod file;
mod node;
pub mod place;
mod shape;
mod table;

pub use node::{Node, Stored, invalid};
pub use shape::{Numbers, Shaped, Side, Sizes, check_numbers};
