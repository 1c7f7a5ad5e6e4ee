//! Sorts the lines of a file, such as `Oslo 5`, by a key of one's own.

use gristmill::{Error, Format, Key, Sorter};

struct Sale(String, i64);

impl Key for Sale {
    fn write(&self, out: &mut Vec<u8>) {
        (std::cmp::Reverse(self.1), &self.0).write(out); // most sales first, then by name
    }
}

fn main() -> Result<(), Error> {
    let sorter = Sorter::new(Format::lines()).by_key(|line| {
        let line = String::from_utf8_lossy(line);
        let (city, number) = line.split_once(' ').unwrap_or((&line, ""));
        Sale(city.to_owned(), number.parse().unwrap_or(0))
    });
    sorter.sort_files(["sales.txt"], "sorted.txt").map(drop)
}
