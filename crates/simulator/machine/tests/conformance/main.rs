//! The suites of every backend, on the machine and on the driver. They stand apart from the other tests: they take
//! long to compile, and AddressSanitizer does without them.

mod driver;
mod machine;
