//! Tests of values that need no backend: buffers, words, errors, times, random streams.

use std::error::Error;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use node::backend::{Target, chain_capacity, set_chain_len};
use node::{
    Address, Buffer, Closed, DiskError, Group, INLINE_WORDS, MESSAGE_BYTES, MESSAGE_WORDS, Open,
    Panic, Port, Random, Rank, Standard, Time, Undelivered, Words,
};

/// The message of the panic that `code` ends with.
fn panic_of(code: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(code)).expect_err("it panics");
    Panic::of(&*payload).0
}

// ---- buffers ---------------------------------------------------------------------------------

#[test]
fn a_buffer_knows_how_much_of_it_is_filled() {
    let mut buffer = Buffer::heap(10);
    assert_eq!(
        (buffer.capacity(), buffer.len(), buffer.is_empty()),
        (10, 0, true)
    );
    assert!(!buffer.is_counted() && buffer.filled().is_empty());
    buffer.bytes_mut().copy_from_slice(b"0123456789");
    buffer.set_len(4);
    assert_eq!((buffer.len(), buffer.is_empty()), (4, false));
    assert_eq!(
        (buffer.filled(), buffer.bytes()),
        (&b"0123"[..], &b"0123456789"[..])
    );
    assert_eq!(format!("{buffer:?}"), "Buffer(real, 4 of 10)");
    buffer.set_len(10);
    assert_eq!(buffer.filled().len(), 10);
    assert_eq!(
        panic_of(move || buffer.set_len(11)),
        "a buffer of 10 cannot hold 11"
    );
}

#[test]
fn a_counted_buffer_has_lengths_and_no_bytes() {
    let mut buffer = Buffer::counted(10);
    buffer.set_len(7);
    assert_eq!(
        (buffer.capacity(), buffer.len(), buffer.is_counted()),
        (10, 7, true)
    );
    assert_eq!(format!("{buffer:?}"), "Buffer(counted, 7 of 10)");
    let sibling = buffer.sibling(3);
    assert_eq!(
        (sibling.capacity(), sibling.len(), sibling.is_counted()),
        (3, 0, true)
    );
    assert!(!Buffer::heap(1).sibling(3).is_counted());
    assert_eq!(
        panic_of(move || assert!(buffer.bytes().is_empty())),
        "a counted buffer holds no bytes"
    );
}

#[test]
fn a_range_is_copied_to_its_place() {
    let mut from = Buffer::heap(8);
    from.bytes_mut().copy_from_slice(b"abcdefgh");
    let mut to = Buffer::heap(6);
    to.copy_from(4, &from, 6..8);
    to.copy_from(1, &from, 2..4);
    assert_eq!(to.bytes(), b"\0cd\0gh");
    let mut counted = Buffer::counted(8);
    counted.copy_from(0, &from, 0..8);
    to.copy_from(0, &counted, 0..6);
    assert_eq!(to.bytes(), b"\0cd\0gh", "a counted buffer has no bytes");
}

#[test]
fn a_copy_stays_within_both_buffers() {
    for (at, range) in [(5, 0..2), (7, 0..0), (0, 7..9)] {
        let mut to = Buffer::counted(6);
        panic_of(move || to.copy_from(at, &Buffer::counted(8), range));
    }
    Buffer::counted(6).copy_from(6, &Buffer::counted(8), 8..8);
}

#[test]
fn a_chain_fills_from_its_front() {
    let lens = |len| {
        let mut chain = [Buffer::counted(4), Buffer::counted(0), Buffer::counted(6)];
        assert_eq!(chain_capacity(&chain), 10);
        set_chain_len(&mut chain, len);
        chain.map(|buffer| buffer.len())
    };
    assert_eq!(
        [0, 3, 4, 5, 10].map(lens),
        [[0, 0, 0], [3, 0, 0], [4, 0, 0], [4, 0, 1], [4, 0, 6]]
    );
}

// ---- words, times, ranks ---------------------------------------------------------------------

#[test]
fn short_words_need_no_memory() {
    let words = [1; INLINE_WORDS + 1];
    assert!(Words::new().is_inline() && Words::from(&words[1..]).is_inline());
    assert!(Words::after(1, &words[2..]).is_inline());
    assert!(!Words::from(&words[..]).is_inline() && !Words::after(1, &words[1..]).is_inline());
    assert_eq!(format!("{:?}", Words::from(&[4, 5][..])), "[4, 5]");
    assert_ne!(Words::from(&[4, 5][..]), Words::from(&[4][..]));
}

#[test]
fn skipping_more_words_than_there_are_is_a_bug() {
    let long = Words::from(&[1, 2, 3, 4, 5][..]);
    assert_eq!(
        (&*long.skip(2).skip(1), long.skip(5).len()),
        (&[4, 5][..], 0)
    );
    panic_of(move || drop(long.skip(3).skip(3)));
}

#[test]
fn times_saturate() {
    assert_eq!(
        (Time(5).after(3), Time(u64::MAX).after(1)),
        (Time(8), Time(u64::MAX))
    );
    assert_eq!((Time(5).since(Time(3)), Time(3).since(Time(5))), (2, 0));
    assert_eq!(Rank(17).to_string(), "17");
}

#[test]
fn an_address_is_no_group() {
    let address = Address {
        rank: Rank(1),
        port: Port(2),
    };
    assert_eq!(Target::One(address).one(), address);
    let group = Target::Group(Group::row(Rank(0), 2), Port(2));
    assert_eq!(
        panic_of(move || assert_eq!(group.one(), address)),
        "this network does not multicast"
    );
    assert_eq!(MESSAGE_WORDS * 8, MESSAGE_BYTES);
}

/// A published seed must give the same numbers forever. These are the first ones.
#[test]
fn streams_of_a_seed_are_fixed() {
    let first = |seed, stream| Random::stream(seed, stream).next_u64();
    let expected = [
        0xbfef_8030_ddc2_d772,
        0x85c6_1a30_0ec7_0fa1,
        0x5b79_f476_df1f_fa2a,
    ];
    assert_eq!([first(1, 0), first(1, 1), first(2, 1)], expected);
    assert_ne!(first(1, 2), first(2, 1));
}

// ---- errors ----------------------------------------------------------------------------------

#[test]
fn disk_errors_say_what_where_why_and_what_to_do() {
    use io::ErrorKind::{
        FileTooLarge, IsADirectory, NotADirectory, NotFound, PermissionDenied, QuotaExceeded,
        ReadOnlyFilesystem, StorageFull, UnexpectedEof,
    };
    for (verb, kind, advice) in [
        (
            "write",
            StorageFull,
            "; free some space there or name another place",
        ),
        (
            "write",
            QuotaExceeded,
            "; free some space there or name another place",
        ),
        (
            "write",
            FileTooLarge,
            "; raise the file size limit (ulimit -f) or name another place",
        ),
        ("create", NotFound, "; make the directory first"),
        ("open", NotFound, "; check the name"),
        ("open", NotADirectory, "; check the path"),
        ("open", IsADirectory, "; name a file"),
        (
            "open",
            PermissionDenied,
            "; change its permissions or name another place",
        ),
        (
            "create",
            ReadOnlyFilesystem,
            "; name a place that can be written",
        ),
        ("read", UnexpectedEof, ""),
    ] {
        let error = DiskError::new(verb, Path::new("some/file"), kind.into());
        let cause = io::Error::from(kind);
        assert_eq!(
            error.to_string(),
            format!("cannot {verb} some/file: {cause}{advice}")
        );
        assert_eq!(
            error.source().expect("a cause").to_string(),
            cause.to_string()
        );
    }
    let many = DiskError::new("open", Path::new("a"), io::Error::from_raw_os_error(24));
    assert!(
        many.to_string()
            .ends_with("; raise the limit on open files (ulimit -n)"),
        "{many}"
    );
    let error = DiskError {
        offset: Some(4096),
        ..many
    };
    assert!(
        error
            .to_string()
            .starts_with("cannot open a at byte 4096: "),
        "{error}"
    );
}

#[test]
fn a_refused_shipment_names_its_sender() {
    assert_eq!(Undelivered::from(Closed).to_string(), "it was closed");
    let foreign = Undelivered::Foreign {
        from: Rank(3),
        what: "8 bytes".into(),
    };
    assert!(
        foreign
            .to_string()
            .contains("rank 3 sent data that does not belong there (8 bytes)")
    );
}

#[test]
fn only_a_new_file_is_created() {
    let (direct, mode) = (false, 0o600);
    assert!(Open::Create { direct, mode }.is_create());
    for how in [
        Open::Read { direct },
        Open::Append,
        Open::Join { direct },
        Open::Keep { direct, mode },
    ] {
        assert!(!how.is_create(), "{how:?}");
    }
    assert_eq!(Standard::Input.name(), "standard input");
    assert_eq!(Standard::Output.name(), "standard output");
}
