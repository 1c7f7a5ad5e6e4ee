use super::*;
use crate::records::contents::Bytes;
use record::{Order, Ties};

fn span(begin: u64, records: u64, first: u8, last: u8) -> Span {
    let sum = u128::from(first) + u128::from(last);
    let size = |records| Size {
        records,
        bytes: records,
    };
    Span {
        begin: size(begin),
        size: size(records),
        file: 0,
        sum,
        first: vec![first],
        last: vec![last],
    }
}

fn read(records: u64, crc: u128) -> Sum {
    let size = Size {
        records,
        bytes: records,
    };
    Sum { size, crc }
}

fn order() -> Bytes {
    Bytes::new(Order::new(1, &[], Ties::Record).unwrap())
}

#[test]
fn what_came_in_must_go_out() {
    let tally = Tally::default();
    tally.add_in(read(2, 10));
    tally.add_in(read(1, 18));
    tally.add_out(span(2, 1, 9, 9), &order()).unwrap();
    tally.add_out(span(0, 2, 1, 9), &order()).unwrap();
    let settled = tally.settle(&order()).unwrap();
    assert_eq!(settled.sum, read(3, 28));
    assert_eq!((settled.largest, settled.buckets), (2, 2));
    assert!((settled.unevenness() - 2.0 / 1.5).abs() < 1e-9);
}

#[test]
fn nothing_and_one_bucket_are_even() {
    let tally = Tally::default();
    assert_eq!(tally.settle(&order()).unwrap().unevenness(), 1.0);
    tally.add_in(read(5, 10));
    tally.add_out(span(0, 5, 1, 9), &order()).unwrap();
    assert_eq!(tally.settle(&order()).unwrap().unevenness(), 1.0);
}

#[test]
fn a_lost_or_changed_record_is_found() {
    for (records, last) in [(1, 9), (2, 8)] {
        let tally = Tally::default();
        tally.add_in(read(2, 10));
        tally.add_out(span(0, records, 1, last), &order()).unwrap();
        assert!(matches!(
            tally.settle(&order()),
            Err(SortError::Lost { .. })
        ));
    }
}

#[test]
fn records_are_left_out_behind_the_first_ones_only() {
    // Of eight records two are repeated and one is cut from its load.
    let settled = |written, unread, top| {
        let tally = Tally::default();
        tally.add_in(read(8, 80));
        tally.add_repeated(read(2, 20));
        tally.add_behind_top(read(1, 10));
        tally.add_unread(unread, top);
        tally.add_out(span(0, written, 20, 30), &order()).unwrap();
        tally.settle(&order()).map(|settled| settled.dropped)
    };
    assert_eq!(settled(3, 2, 3), Ok(read(5, 30)));
    assert_eq!(settled(5, 0, 5).unwrap().size.records, 3);
    // One was not read and not written; one more was read than was written.
    for (written, unread, top) in [(3, 1, 3), (3, 3, 3), (3, 2, 4), (3, 2, 2), (3, 2, 9)] {
        let found = settled(written, unread, top);
        assert!(matches!(found, Err(SortError::Lost { .. })), "{found:?}");
    }
}

#[test]
fn buckets_out_of_order_are_found_when_both_are_there() {
    let tally = Tally::default();
    tally.add_out(span(5, 2, 3, 4), &order()).unwrap();
    let found = tally.add_out(span(0, 5, 1, 4), &order());
    assert_eq!(found, Err(SortError::Disorder { record: 5 }));
}

#[test]
fn files_out_of_order_are_found_in_the_end() {
    let tally = Tally::default();
    tally.add_in(read(7, 12));
    tally
        .add_out(
            Span {
                file: 1,
                ..span(5, 2, 3, 4)
            },
            &order(),
        )
        .unwrap();
    tally.add_out(span(0, 5, 1, 4), &order()).unwrap();
    assert_eq!(
        tally.settle(&order()),
        Err(SortError::Disorder { record: 5 })
    );
}

#[test]
fn edges_between_neighbours_are_not_kept() {
    let tally = Tally::default();
    for begin in [0, 4, 1, 3, 2] {
        tally.add_out(span(begin, 1, 7, 7), &order()).unwrap();
    }
    let spans = tally.spans();
    assert_eq!(
        (spans.len(), spans[0].size.records, spans[0].sum),
        (1, 5, 70)
    );
}
