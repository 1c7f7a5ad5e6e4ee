//! Machine files: taken or refused in one line; a machine that is taken is the same when it is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use machine::Profile;

fuzz_target!(|text: &str| {
    match Profile::parse(text) {
        Ok(profile) => {
            assert!(profile.most_ranks() > 0);
            let again = Profile::parse(text).expect("it was read");
            assert_eq!(
                (again.hash, again.most_ranks()),
                (profile.hash, profile.most_ranks())
            );
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
});
