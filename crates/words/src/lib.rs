//! How Seinpaal says things to people: ages, dates, reasons and estimates, in the same words in a terminal and on a page.

pub mod calendar;
pub mod text;
pub mod why;
