//! Wakeups about queues.

use seinpaal_proto::{
    Fence, Inbox, Name,
    queue::{Delivery, ItemId, Wakeup, What},
};

use super::{Message, QUEUE, Reader, or_look_again, start};

const CALLED: u8 = 1;
const LOOK_IN: u8 = 2;
const LOST: u8 = 3;

/// Encodes wakeups that are all for one inbox and about one queue.
pub fn encode_queue_wakeups(name: &Name, wakeups: &[&Wakeup]) -> Vec<u8> {
    let mut bytes = start(QUEUE, name);
    for wakeup in wakeups {
        encode_what(&mut bytes, wakeup.what);
    }
    or_look_again(bytes)
}

fn encode_what(bytes: &mut Vec<u8>, what: What) {
    match what {
        What::Called => bytes.push(CALLED),
        What::Watch { look_in } => {
            bytes.push(LOOK_IN);
            bytes.extend(look_in.to_be_bytes());
        }
        What::Lost(Delivery { id, fence }) => {
            bytes.push(LOST);
            bytes.extend(id.0.to_be_bytes());
            bytes.extend(fence.0.to_be_bytes());
        }
    }
}

pub(super) fn decode(inbox: Inbox, name: &Name, mut reader: Reader<'_>) -> Option<Message> {
    let mut wakeups = Vec::new();
    while !reader.0.is_empty() {
        let what = decode_what(&mut reader)?;
        wakeups.push(Wakeup { inbox, name: name.clone(), what });
    }
    Some(Message::Queue(wakeups))
}

fn decode_what(reader: &mut Reader<'_>) -> Option<What> {
    match reader.array()? {
        [CALLED] => Some(What::Called),
        [LOOK_IN] => Some(What::Watch { look_in: u64::from_be_bytes(reader.array()?) }),
        [LOST] => {
            let id = ItemId(u64::from_be_bytes(reader.array()?));
            let fence = Fence(u64::from_be_bytes(reader.array()?));
            Some(What::Lost(Delivery { id, fence }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::decode, *};

    fn sent() -> Vec<Wakeup> {
        let delivery = Delivery { id: ItemId(7), fence: Fence(u64::MAX) };
        let whats = [What::Called, What::Watch { look_in: 5 }, What::Lost(delivery)];
        let name = Name::new("a b").unwrap();
        whats.map(|what| Wakeup { inbox: Inbox(9), name: name.clone(), what }).to_vec()
    }

    #[test]
    fn wakeups_about_a_queue_survive_the_way() {
        let sent = sent();
        let bytes = encode_queue_wakeups(&sent[0].name, &sent.iter().collect::<Vec<_>>());
        assert_eq!(decode(Inbox(9), &bytes), Some(Message::Queue(sent)));
    }

    #[test]
    fn what_is_cut_off_within_a_wakeup_is_ignored() {
        let sent = sent();
        let bytes = encode_queue_wakeups(&sent[2].name, &[&sent[2]]);
        let whole = 4 + sent[2].name.len();
        for length in (0..bytes.len()).filter(|length| *length != whole) {
            assert_eq!(decode(Inbox(9), &bytes[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn more_than_fits_is_told_as_look_again() {
        let sent = sent();
        let bytes = encode_queue_wakeups(&sent[0].name, &vec![&sent[2]; 5000]);
        assert_eq!(decode(Inbox(9), &bytes), Some(Message::LookAgain));
    }
}
