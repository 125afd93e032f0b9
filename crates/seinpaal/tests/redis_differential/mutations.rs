//! Mistakes that are made in the scripts line by line: every one must show in some history.

use std::sync::Arc;

use seinpaal::store::redis::EditLua;
use seinpaal_rig::RedisServer;

use super::{
    bench::{Bench, Way},
    first_different, histories,
    history::Shape,
};

/// A change of a line.
#[derive(Clone, Copy, Debug)]
enum Change {
    Dropped,
    Negated,
    OffByOne,
}

/// The line after the change, or `None` if there is nothing in it that could be changed so.
fn changed(line: &str, change: Change) -> Option<String> {
    let code = line.split(" -- ").next()?;
    match change {
        Change::Dropped => {
            let is_whole = !["function", "if ", "else", "end", "repeat", "until", "for ", "while "]
                .iter()
                .any(|word| code.contains(word));
            let is_statement =
                code.contains(" = ") && !code.contains("local ") || code.contains("(");
            let is_closed = code.matches('(').count() == code.matches(')').count()
                && !code.trim_end().ends_with([',', '=', '.', '{'])
                && !code.trim_start().starts_with(['.', '}', ')']);
            (is_whole && is_statement && is_closed && !code.contains("return"))
                .then(|| String::new())
        }
        Change::Negated => {
            let pairs = [
                (" == ", " ~= "),
                (" ~= ", " == "),
                (" <= ", " > "),
                (" >= ", " < "),
                (" < ", " >= "),
                (" > ", " <= "),
                (" and ", " or "),
            ];
            let (from, to) = pairs.into_iter().find(|(from, _)| code.contains(from))?;
            Some(code.replacen(from, to, 1))
        }
        Change::OffByOne => {
            let at = code.find(" + 1").or_else(|| code.find(" - 1"))?;
            Some(format!("{} + 0{}", &code[..at], &code[at + 4..]))
        }
    }
}

/// An edit of the line with this number, counted over the files of a script.
fn edit(number: usize, change: Change) -> EditLua {
    Arc::new(move |source: &str| {
        let line = |(at, line): (usize, &str)| match at == number {
            true => changed(line, change).unwrap_or_else(|| line.to_owned()),
            false => line.to_owned(),
        };
        source.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Mutates one line in so many: all of them take hours. Another part each night.
#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn mistakes_in_the_scripts_show() {
    const PARTS: usize = 40;
    let day = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    let part = day as usize % PARTS;
    let hot = concat!(
        include_str!("../../../redis/src/lua/names/layout.lua"),
        include_str!("../../../redis/src/lua/names/guard.lua"),
        include_str!("../../../redis/src/lua/names/ledger.lua"),
        include_str!("../../../redis/src/lua/names/rare.lua"),
        include_str!("../../../redis/src/lua/names/hot.lua"),
    );
    let (mut made, mut unnoticed) = (0, Vec::new());
    for (number, line) in hot.lines().enumerate().filter(|(number, _)| number % PARTS == part) {
        for change in [Change::Dropped, Change::Negated, Change::OffByOne] {
            let Some(mutant) = changed(line, change) else { continue };
            made += 1;
            let edit = Some(edit(number, change));
            let mut bench = Bench::on(RedisServer::start(), Way::Alone, None, edit).await;
            let mut is_found = false;
            for shape in [Shape::MIXED, Shape::CALM, Shape::NAMED] {
                is_found =
                    is_found || first_different(&mut bench, 0..histories(), shape).await.is_some();
            }
            if !is_found {
                unnoticed.push(format!("line {number}, {change:?}: {line} became {mutant}"));
            }
        }
    }
    println!("{made} mistakes, {} unnoticed: {unnoticed:#?}", unnoticed.len());
    assert!(10 * unnoticed.len() <= 2 * made, "more than a fifth went unnoticed");
}
