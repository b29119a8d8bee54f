//! Sizes of memory as people write them.

/// A number of bytes above zero as people write it: `2G`, `512MiB`, `1.5 GB`, `1000000`. Units
/// are powers of 1024.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim().to_ascii_lowercase();
    let shift = match unit.strip_suffix('b').unwrap_or(&unit) {
        "" => 0,
        "k" | "ki" => 10,
        "m" | "mi" => 20,
        "g" | "gi" => 30,
        "t" | "ti" => 40,
        _ => return None,
    };
    let bytes = match number.parse::<u64>() {
        Ok(n) => n.checked_mul(1 << shift)?,
        Err(_) if !number.contains('.') => return None,
        Err(_) => (number.parse::<f64>().ok()? * (1u64 << shift) as f64) as u64,
    };
    (bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = ["1000", "2G", "2 GiB", "2gb", "512m", "1.5K", "3T", "64b"];
        let expected = [
            1000,
            2 << 30,
            2 << 30,
            2 << 30,
            512 << 20,
            1536,
            3 << 40,
            64,
        ];
        assert_eq!(sizes.map(parse_size), expected.map(Some));
        for wrong in [
            "",
            "G",
            "0",
            "-1",
            "1X",
            "1.2.3",
            "99999999999999999999",
            "20000000T",
        ] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }
}
