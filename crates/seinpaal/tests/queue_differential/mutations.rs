//! Mistakes that are made in the script line by line: every one must show in some history.

use seinpaal_rig::RedisServer;

use super::{
    bench::Bench,
    differential::{first_different, histories, make_mistakes},
    history::{Shape, draw},
};

#[tokio::test]
#[ignore = "mutates the script, which takes minutes: nightly runs it"]
async fn mistakes_in_the_script_of_queues_show() {
    let script = concat!(
        include_str!("../../../redis/src/lua/queues/layout.lua"),
        include_str!("../../../redis/src/lua/common.lua"),
        include_str!("../../../redis/src/lua/queues/begin.lua"),
        include_str!("../../../redis/src/lua/queues/general.lua"),
        include_str!("../../../redis/src/lua/queues/workers.lua"),
        include_str!("../../../redis/src/lua/queues/time.lua"),
        include_str!("../../../redis/src/lua/queues/operators.lua"),
        include_str!("../../../redis/src/lua/queues/list.lua"),
        include_str!("../../../redis/src/lua/queues/run.lua"),
    );
    make_mistakes(script, 20, async |edit| {
        let mut bench = Bench::on(RedisServer::start(), Some(edit)).await;
        for shape in [Shape::MIXED, Shape::LARGE, Shape::CROWD] {
            let draw = |seed| draw(seed, shape);
            if first_different(&mut bench, 0..histories(), draw).await.is_some() {
                return true;
            }
        }
        false
    })
    .await;
}
