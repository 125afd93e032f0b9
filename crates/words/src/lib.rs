//! The words of Seinpaal. People read the same ages, dates, reasons and estimates in a terminal and
//! on a page. Programs read the JSON of [`json`].

pub mod calendar;
pub mod json;
pub mod matching;
pub mod reservation;
pub mod text;
pub mod ticket;
pub mod why;
