use super::*;

fn bucket(held: u32, waiting: u32, oldest: u32) -> Bucket {
    let (held, waiting) = ((held, held), (waiting, waiting));
    Bucket { held, waiting, limit: 4, oldest, ..Bucket::default() }
}

#[test]
fn steps_stand_where_a_figure_changes_and_gaps_are_left_out() {
    let (two, four) = (bucket(2, 0, 0), bucket(4, 1, 1000));
    let buckets = [None, Some(&two), Some(&two), Some(&four), None, Some(&two)];
    let lane = Lane::held(100, &buckets, "10 minutes", &PERMITS);
    assert_eq!(lane.most, "M101 48H101V24H103V0H104V48ZM105 48H105V24H106V48Z");
    assert_eq!(lane.line, "M101 0H104M105 0H106");
    assert_eq!(gaps(100, &buckets), [(100, 1), (104, 1)]);
    assert_eq!((lane.now.as_str(), lane.top.as_str()), ("2 of 4", "up to 4"));
    assert_eq!(lane.words, "Held over the last 10 minutes: 2 to 4, now 2 of 4.");
    let line = Lane::waiting(100, &buckets, "10 minutes", &PERMITS);
    assert_eq!(line.most, "M101 48H101V48H103V0H104V48Z", "nobody waited in the last run");
}

#[test]
fn a_grant_after_a_wait_is_a_dot_as_high_as_the_wait_was_long() {
    let granted = Bucket { granted: 2, waited: 500, ..bucket(1, 1, 1000) };
    let lane = Lane::waits(7, &[Some(&granted)], "10 minutes", &PERMITS);
    assert_eq!((lane.dots.as_str(), lane.top.as_str()), ("M7.5 24h0", "up to 1s"));
    assert!(lane.words.ends_with("1s at most; 2 got in after a wait."), "{}", lane.words);
}

#[test]
fn what_was_not_read_is_said_and_not_shown_as_nothing() {
    let seen = bucket(1, 0, 0);
    let buckets: Vec<_> = (0..20).map(|at| (at >= 15).then_some(&seen)).collect();
    let rows = rows(&buckets, Duration::from_secs(30));
    assert_eq!(rows.len(), 10);
    assert_eq!((rows[0].when.as_str(), rows[0].held.as_str()), ("the last 1m00s", "1"));
    assert_eq!((rows[9].when.as_str(), rows[9].held.as_str()), ("10m00s to 9m00s ago", "not read"));
    let words = since(&buckets, Duration::from_secs(30));
    assert_eq!(words, "There are readings from 2m30s ago on. ");
    let nothing = Lane::held(0, &[None, None], "24 hours", &PERMITS);
    assert_eq!(nothing.words, "Held over the last 24 hours: not known.");
    assert!(nothing.most.is_empty() && nothing.line.is_empty());
}

#[test]
fn the_past_of_a_queue_has_words_of_its_own() {
    let busy = bucket(2, 3, 9000);
    let lane = Lane::held(0, &[Some(&busy)], "10 minutes", &ITEMS);
    assert_eq!(lane.words, "In work over the last 10 minutes: 2, now 2 of 4.");
    let lane = Lane::waiting(0, &[Some(&busy)], "10 minutes", &ITEMS);
    assert_eq!(lane.words, "Ready over the last 10 minutes: 3, now 3.");
    let lane = Lane::waits(0, &[Some(&busy)], "10 minutes", &ITEMS);
    assert_eq!(lane.words, "Oldest ready over the last 10 minutes: 9s at most.");
    let lane = Lane::waits(0, &[Some(&bucket(0, 0, 0))], "10 minutes", &ITEMS);
    assert_eq!(lane.words, "Oldest ready over the last 10 minutes: none.");
}
