//! Manifests and journals of sets, on a simulated node: whatever they say, a sort of the set gives its
//! records or is refused, a sort into it succeeds or leaves it, and no file of others is touched.

#![no_main]

#[path = "../../crates/sorter/sort/tests/suite/common/mod.rs"]
mod common;

use common::set::{check, driver, into_set};
use common::{get, job, put, run};
use kernel::patterns::{Pattern, draw};
use libfuzzer_sys::fuzz_target;
use record::{Order, Ties};

const MANIFEST: &str = "/set/manifest.json";
const JOURNAL: &str = ".gristmill-0123456789abcdef.journal";
const VICTIM: &str = "/b/part-00000-deadbeef";

fn sealed(name: &str, text: &[u8]) -> Vec<u8> {
    let crc = kernel::block_crc(&[name.as_bytes(), &[0], text].concat());
    [text, format!("\ngristmill-seal {crc:08x}\n").as_bytes()].concat()
}

fuzz_target!(|data: &[u8]| {
    let [choice, text @ ..] = data else {
        return;
    };
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 3, 40, 100);
    let sorted = common::sorted(&records, &order);
    let driver = driver(1);
    put(&driver, "/in", &records);
    put(&driver, VICTIM, b"precious");
    run(&driver, &into_set(&["/in"], &["/set"], &order)).expect("a sort into a set");
    if choice & 1 > 0 {
        put(&driver, &format!("/set/{JOURNAL}"), &sealed(JOURNAL, text));
        run(&driver, &into_set(&["/in"], &["/set"], &order)).expect("beside a journal");
        assert!(common::set::content(&driver, "/set") == sorted);
    } else {
        put(&driver, MANIFEST, text);
        let _ = check(&driver, "/set");
        if run(&driver, &job(&["/set"], "/out", &order)).is_ok() {
            let found = get(&driver, "/out").expect("an output");
            // A manifest may list fewer files, but says then how many records they have.
            assert!(common::sorted(&found, &order) == found);
        }
        if run(&driver, &into_set(&["/in"], &["/set"], &order)).is_ok() {
            assert!(common::set::content(&driver, "/set") == sorted);
        }
    }
    assert_eq!(get(&driver, VICTIM).as_deref(), Some(&b"precious"[..]));
    assert_eq!(
        get(&driver, "/in"),
        Some(records),
        "an input is never written"
    );
});
