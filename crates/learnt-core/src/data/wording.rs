//! What the name of a column says about its values.

/// The words of a name in small letters: `customerID` is customer and id.
pub fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let new = letter.is_uppercase() && before.is_lowercase();
        if new || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn ends_with_one_of(name: &str, known: &[&str]) -> bool {
    words_of(name).last().is_some_and(|word| known.contains(&word.as_str()))
}

/// Whether the name is one of names for rows or things: `customer_id`, `key`.
pub fn says_identifier(name: &str) -> bool {
    let known =
        ["id", "ids", "key", "uuid", "guid", "index", "idx", "identifier", "rownum", "rowid"];
    ends_with_one_of(name, &known)
}

/// Whether the name is one of postal codes: `ZipCode`, `postal_code`.
pub fn says_postal_code(name: &str) -> bool {
    let known = ["zip", "zipcode", "postcode", "postal", "plz"];
    words_of(name).iter().any(|word| known.contains(&word.as_str()))
}

/// Whether the name is one of points in time: `year`, `t`.
pub fn says_time(name: &str) -> bool {
    let known = [
        "t",
        "x",
        "time",
        "year",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "period",
        "step",
        "quarter",
        "age",
        "trend",
        "timestamp",
    ];
    ends_with_one_of(name, &known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_decides() {
        assert!(says_identifier("customerID") && !says_identifier("bid"));
        assert!(says_postal_code("ZipCode") && !says_postal_code("unzipped"));
        assert!(says_time("Sale Year") && !says_time("yearly"));
    }
}
