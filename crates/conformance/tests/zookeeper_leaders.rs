//! A short run of the example that kills leaders: what it prints is for people, what it finds broken is not.

#[path = "../examples/zookeeper_leaders/load.rs"]
mod load;
#[path = "../examples/zookeeper_leaders/verdict.rs"]
mod verdict;

#[test]
fn killing_the_leader_breaks_no_promise() {
    let plan = load::Plan { clients: 12, kills: 2, limit: 3, grants_between: 60, grants_after: 40 };
    let seen = load::run(&plan);
    println!("{}", verdict::table(&plan, &seen));
    assert_eq!(verdict::broken(&plan, &seen), [""; 0]);
}
