use super::*;

const TICKET: Ticket = Ticket(1);
const TTL: Duration = Duration::from_secs(30);

fn at(port: u16, link: u64) -> ListeningLink {
    ListeningLink { node: NodeAddress { host: "h".into(), port }, link }
}

fn owner(port: u16) -> impl Fn(u16) -> Option<NodeAddress> {
    move |_| Some(at(port, 0).node)
}

#[test]
fn what_is_wanted_is_deaf_until_the_server_says_that_it_listens() {
    let ears = Ears::default();
    assert_eq!(ears.want("c", 7, [TICKET], TTL), None);
    assert_eq!(ears.deaf(owner(1)), [("c".to_owned(), 7)]);
    assert!(!ears.listens("c", at(1, 5)), "nothing can have been missed before");
    assert_eq!(ears.want("c", 7, [], TTL), Some(at(1, 5)));
    assert!(ears.deaf(owner(1)).is_empty());
    assert_eq!(ears.deaf(owner(2)).len(), 1, "it listens at the wrong node");
}

#[test]
fn a_client_that_comes_back_may_have_missed_something() {
    let ears = Ears::default();
    ears.want("c", 7, [TICKET], TTL);
    ears.listens("c", at(1, 5));
    assert!(!ears.lose(4) && ears.lose(5));
    assert!(ears.listens("c", at(1, 6)));
    assert!(!ears.listens_no_more("c", 5), "an older link has no say");
    assert!(ears.listens_no_more("c", 6));
    assert!(ears.listens("c", at(2, 7)));
    assert!(!ears.listens("unwanted", at(2, 7)));
}

#[test]
fn a_late_link_that_says_after_all_that_it_listens_is_in_use() {
    let ears = Ears::default();
    ears.want("c", 7, [TICKET], TTL);
    ears.listens("c", at(1, 5));
    assert!(ears.lose(5) && !ears.uses(5));
    ears.listens("c", at(1, 5));
    assert!(ears.uses(5) && !ears.uses(6));
}

#[test]
fn a_name_is_given_up_a_while_after_its_last_ticket() {
    let ears = Ears::default();
    ears.want("c", 7, [TICKET, Ticket(2)], TTL);
    ears.listens("c", at(1, 5));
    let later = Instant::now() + LINGER * 2;
    assert!(ears.give_up_idle(later).is_empty());
    ears.release("c", &[TICKET]);
    assert!(ears.give_up_idle(later).is_empty());
    ears.release("c", &[Ticket(2)]);
    assert!(ears.give_up_idle(Instant::now()).is_empty(), "it lingers");
    assert_eq!(ears.give_up_idle(later), [("c".to_owned(), Some(at(1, 5)))]);
    assert!(ears.all().is_empty());
}

#[test]
fn a_name_whose_ticket_was_never_answered_is_given_up_once_its_lease_is_over() {
    let ears = Ears::default();
    ears.want("c", 7, [TICKET], TTL);
    // A renewal of the whole lease names no tickets.
    ears.want("c", 7, [], TTL / 2);
    let wanted = Instant::now();
    assert!(ears.give_up_idle(wanted + TTL - LINGER).is_empty());
    assert_eq!(ears.give_up_idle(wanted + TTL).len(), 1);
}

#[test]
fn an_older_link_of_a_node_does_not_replace_a_newer_one() {
    let ears = Ears::default();
    ears.want("c", 7, [TICKET], TTL);
    ears.listens("c", at(1, 6));
    assert!(!ears.listens("c", at(1, 5)));
    assert_eq!(ears.want("c", 7, [], TTL), Some(at(1, 6)));
    ears.listens("c", at(2, 4));
    assert_eq!(ears.want("c", 7, [], TTL), Some(at(2, 4)), "another node counts in any case");
}
