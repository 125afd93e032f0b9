//! Mistakes that are made in the script line by line: every one must show in some history.

use std::sync::Arc;

use seinpaal::store::redis::EditLua;
use seinpaal_rig::RedisServer;

use super::{bench::Bench, first_different, histories, history::Shape};

/// A change of a line.
#[derive(Clone, Copy, Debug)]
enum Change {
    Dropped,
    Negated,
    OffByOne,
}

/// The line after the change, or `None` if there is nothing in it that could be changed so.
fn changed(line: &str, change: Change) -> Option<String> {
    let code = line.split(" -- ").next().filter(|code| !code.trim_start().starts_with("--"))?;
    match change {
        Change::Dropped => {
            let is_whole =
                !["function", "if ", "else", "end", "for ", "while ", "return", "local "]
                    .iter()
                    .any(|word| code.contains(word));
            let is_closed = code.matches('(').count() == code.matches(')').count()
                && !code.trim_end().ends_with([',', '=', '.', '{'])
                && !code.trim_start().starts_with(['.', '}', ')']);
            (is_whole && is_closed && (code.contains(" = ") || code.contains('(')))
                .then(String::new)
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

/// An edit of the line with this number, counted over the files of the script.
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
#[ignore = "mutates the script, which takes minutes: nightly runs it"]
async fn mistakes_in_the_script_of_queues_show() {
    const PARTS: usize = 20;
    let day = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    let part = day as usize % PARTS;
    let script = concat!(
        include_str!("../../../redis/src/lua/queues/layout.lua"),
        include_str!("../../../redis/src/lua/queues/begin.lua"),
        include_str!("../../../redis/src/lua/queues/general.lua"),
        include_str!("../../../redis/src/lua/queues/clients.lua"),
        include_str!("../../../redis/src/lua/queues/workers.lua"),
        include_str!("../../../redis/src/lua/queues/time.lua"),
        include_str!("../../../redis/src/lua/queues/operators.lua"),
        include_str!("../../../redis/src/lua/queues/list.lua"),
        include_str!("../../../redis/src/lua/queues/run.lua"),
    );
    let (mut made, mut unnoticed) = (0, Vec::new());
    for (number, line) in script.lines().enumerate().filter(|(number, _)| number % PARTS == part) {
        for change in [Change::Dropped, Change::Negated, Change::OffByOne] {
            let Some(mutant) = changed(line, change) else { continue };
            made += 1;
            let edit = Some(edit(number, change));
            let mut bench = Bench::on(RedisServer::start(), edit).await;
            let mut is_found = false;
            for shape in [Shape::MIXED, Shape::LARGE, Shape::CROWD] {
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
