//! Mistakes that are made in the scripts line by line: every one must show in some history.

use seinpaal_rig::RedisServer;

use super::{
    bench::{Bench, Way},
    differential::{first_different, histories, make_mistakes},
    history::{Shape, draw},
};

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn mistakes_in_the_scripts_show() {
    let script = concat!(
        include_str!("../../../redis/src/lua/names/layout.lua"),
        include_str!("../../../redis/src/lua/common.lua"),
        include_str!("../../../redis/src/lua/names/guard.lua"),
        include_str!("../../../redis/src/lua/names/ledger.lua"),
        include_str!("../../../redis/src/lua/names/rare.lua"),
        include_str!("../../../redis/src/lua/names/hot.lua"),
    );
    make_mistakes(script, 40, async |edit| {
        let mut bench = Bench::on(RedisServer::start(), Way::Alone, None, Some(edit)).await;
        for shape in [Shape::MIXED, Shape::CALM, Shape::NAMED] {
            let draw = |seed| draw(seed, shape);
            if first_different(&mut bench, 0..histories(), draw).await.is_some() {
                return true;
            }
        }
        false
    })
    .await;
}
