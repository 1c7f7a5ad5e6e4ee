//! The library as its users see it.

mod again;
mod compressed;
mod drawn;
mod ends;
mod face;
mod in_place;
mod mistakes;
mod names;
mod numbers;
mod orders;
mod shuffled;
mod stopping;
mod streams;
mod stripes;

/// Numbered records of 100 bytes in no order: 4 MB of them spill in the memory of [`SMALL`].
pub fn records(count: u64) -> impl Iterator<Item = [u8; 100]> {
    (0..count).map(|number| {
        let mut record = [b'.'; 100];
        let key = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        record[..8].copy_from_slice(&key.to_be_bytes());
        record[8..16].copy_from_slice(&number.to_be_bytes());
        record
    })
}

/// The least memory that sorts them.
pub const SMALL: u64 = 8 << 20;

/// Files in a directory.
pub fn files(directory: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
