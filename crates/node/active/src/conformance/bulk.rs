//! Bulk messages.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use node::conformance::Harness;
use node::{Node, Rank};

use super::{ADD, PLAIN, PUT, Part, go_on, payload, window};
use crate::{
    Bulk, Bundle, Handler, Handlers, Job, Name, NotRun, Reason, Region, Request, Settings, Target,
    Unknown,
};

/// Memory for bulk messages, filled with bytes that `salt` decides.
fn memory(node: &Node, bytes: usize, salt: usize) -> Bulk {
    let mut memory = Bundle::memory(node, BULK_BYTES).unwrap();
    memory.set_len(bytes);
    memory.bytes_mut().copy_from_slice(&payload(bytes, salt));
    memory
}

fn share(memory: Bulk) -> Arc<node::Mutex<Bulk>> {
    Arc::new(node::Mutex::new(memory))
}

const BULK_BYTES: usize = 300_000;

fn target(region: u32, offset: usize) -> Target {
    Target {
        region: Region(region),
        offset: offset as u64,
    }
}

/// Parts of a region are replaced, a byte, none, and all of it; the sender has its memory back.
pub fn bulk_is_copied_to_its_target(harness: &impl Harness) {
    const CASES: [(u32, usize, usize); 6] = [
        (0, 0, BULK_BYTES),
        (0, 1000, 70_001),
        (1, 5, 1),
        (1, 10, 0),
        (1, 0, 10),
        (0, BULK_BYTES - 3, 3),
    ];
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, Settings::default()).await;
        if node.rank() == Rank(0) {
            for (salt, &(region, offset, bytes)) in (1..).zip(&CASES) {
                let request = Request::new(part.there(1), PUT, &[salt as u32]);
                let request = request.into(target(region, offset));
                let memory = memory(&node, bytes, salt);
                let (answer, memory) = part
                    .endpoint
                    .call_bulk(&node, request, memory)
                    .await
                    .unwrap();
                assert_eq!(*answer.args, [region, offset as u32, salt as u32]);
                assert_eq!(memory.capacity(), BULK_BYTES);
            }
            return part.stop(&node, 1).await;
        }
        let mut expected = [payload(BULK_BYTES, 0), payload(10, 0)];
        let mut regions = Vec::new();
        for contents in &expected {
            let memory = memory(&node, contents.len(), 0);
            regions.push(share(memory));
            part.endpoint
                .export(&node, &regions[regions.len() - 1])
                .await;
        }
        let service = part.bundle.serve_bulk(&node, BULK_BYTES, 2).unwrap();
        part.serve(&node).await;
        service.end(&node).await;
        let mut sum = 0;
        for (salt, (region, offset, bytes)) in (1..).zip(CASES) {
            expected[region as usize][offset..offset + bytes]
                .copy_from_slice(&payload(bytes, salt));
            sum += bytes as u64;
        }
        for (number, (memory, contents)) in regions.iter().zip(&expected).enumerate() {
            assert!(memory.lock().bytes() == contents, "region {number}");
        }
        assert_eq!(part.sum.load(Ordering::SeqCst), sum);
    });
}

/// Each node sends more than the other takes at once, beside short messages.
pub fn bulk_floods_both_ways(harness: &impl Harness) {
    const MESSAGES: usize = 8;
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, window(3)).await;
        let here = share(memory(&node, BULK_BYTES, 0));
        part.endpoint.export(&node, &here).await;
        let service = part.bundle.serve_bulk(&node, BULK_BYTES, 1).unwrap();
        let there = part.there(1 - node.rank().0);
        let mut leaving = Vec::new();
        for number in 0..MESSAGES {
            let bytes = 10_000 + number;
            let request = Request::new(there, PUT, &[0]).into(target(0, 30_000 * number));
            let memory = memory(&node, bytes, number);
            leaving.push(part.endpoint.request_bulk(&node, request, memory).await);
            let request = Request::new(there, ADD, &[1]);
            part.endpoint.request(&node, request).await;
        }
        part.endpoint.quiet(&node).await;
        for memory in leaving {
            assert_eq!(memory.back(&node).await.capacity(), BULK_BYTES);
        }
        let bytes: usize = (0..MESSAGES).map(|number| 10_000 + number).sum();
        // Those of the other's requests, of its bulk, and of the replies to this node.
        let (sum, all) = (Arc::clone(&part.sum), (bytes + 2 * MESSAGES) as u64);
        let is_over = move |_: &_| sum.load(Ordering::SeqCst) == all;
        part.bundle.serve_until(&node, is_over).await;
        for number in 0..MESSAGES {
            let (begin, expected) = (30_000 * number, payload(10_000 + number, number));
            let is_there = here.lock().bytes()[begin..].starts_with(&expected);
            assert!(is_there, "message {number}");
        }
        service.end(&node).await;
    });
}

/// Bytes that would not fit, or go to memory that is not there, change nothing.
pub fn bulk_without_a_place_is_refused(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, Settings::default()).await;
        let foreign = part.bundle.endpoint(&node, Job(2), Handlers::new()).await;
        if node.rank() == Rank(1) {
            let here = share(memory(&node, 100, 1));
            part.endpoint.export(&node, &here).await;
            let service = part.bundle.serve_bulk(&node, BULK_BYTES, 1).unwrap();
            part.serve(&node).await;
            service.end(&node).await;
            assert!(here.lock().bytes() == payload(100, 1));
            assert_eq!(part.sum.load(Ordering::SeqCst), 0);
            return;
        }
        let (there, other) = (part.there(1), foreign.name().at(Rank(1)));
        for (to, handler, place, reason) in [
            (there, PUT, target(1, 0), NotRun::NoMemory),
            (there, PUT, target(0, 91), NotRun::NoMemory),
            (there, PUT, target(0, usize::MAX), NotRun::NoMemory),
            (there, Handler(77), target(0, 0), NotRun::NoHandler),
            (other, PUT, target(0, 0), NotRun::AnotherJob),
            (
                Name { number: 9, ..there },
                PUT,
                target(0, 0),
                NotRun::NoEndpoint,
            ),
        ] {
            let request = Request::new(to, handler, &[]).into(place);
            let call = part
                .endpoint
                .call_bulk(&node, request.clone(), memory(&node, 10, 2));
            let returned = call.await.unwrap_err();
            assert_eq!(
                (returned.request, returned.reason),
                (request, Reason::NotRun(reason))
            );
        }
        part.stop(&node, 1).await;
    });
}

/// Bulk to a node that does not take it is returned as unknown, after the patience. It may run later.
pub fn bulk_that_nobody_takes_is_returned(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let plain = node.bind(PLAIN);
        let settings = Settings {
            again: 0.004,
            patience: 0.02,
            ..window(2)
        };
        let part = Part::new(&node, settings).await;
        if node.rank() == Rank(1) {
            let here = share(memory(&node, 10, 1));
            part.endpoint.export(&node, &here).await;
            plain.next(&node).await;
            let service = part.bundle.serve_bulk(&node, BULK_BYTES, 1).unwrap();
            let is_over = |_: &_| part.sum.load(Ordering::SeqCst) == 10;
            part.bundle.serve_until(&node, is_over).await;
            service.end(&node).await;
            return;
        }
        let request = Request::new(part.there(1), PUT, &[0]).into(target(0, 0));
        let call = part
            .endpoint
            .call_bulk(&node, request, memory(&node, 10, 0));
        let returned = call.await.unwrap_err();
        assert_eq!(returned.reason, Reason::Unknown(Unknown::Silent));
        go_on(&node).await;
    });
}
