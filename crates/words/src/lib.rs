//! How Seinpaal says things to people: ages, dates, reasons and estimates, in the same words in a
//! terminal and on a page; and what it says to programs.

pub mod calendar;
pub mod json;
pub mod matching;
pub mod reservation;
pub mod text;
pub mod ticket;
pub mod why;
