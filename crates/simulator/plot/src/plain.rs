//! Names for links and files.

/// The name with all but letters and digits replaced by hyphens, for links and files.
pub fn plain(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let plain: String = name.chars().map(letter).collect();
    let plain = plain.trim_matches('-').to_ascii_lowercase();
    if plain.is_empty() {
        "figure".to_owned()
    } else {
        plain
    }
}
