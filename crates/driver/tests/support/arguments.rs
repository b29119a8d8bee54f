//! Arguments of calls that are written in tests.

/// Splits `1, [2, 3], (4, 5)` at the commas between arguments.
pub(crate) fn split(args: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0;
    for c in args.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.retain(|a| !a.trim().is_empty());
    out
}
