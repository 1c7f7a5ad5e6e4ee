//! The variants face the kit of the kernel's sorts.

use kernel::Entry;

use super::{ALL, kit};

kit!(partial_radix, |entries, scratch, words| ALL[0]
    .sort(entries, scratch, words));
kit!(mergesort, |entries, scratch, words| ALL[1]
    .sort(entries, scratch, words));
kit!(american_flag, |entries, scratch, words| ALL[2]
    .sort(entries, scratch, words));

proptest::proptest! {
    #![proptest_config(kit::config())]

    #[test]
    fn tables_of_words_sort_alike(
        codes in proptest::collection::vec([0..8usize, 0..8, 0..8], 0..300),
    ) {
        for variant in &ALL {
            kit::table_sorts(&codes, |entries: &mut [Entry], scratch, table| {
                variant.sort(entries, scratch, table);
            });
        }
    }
}
