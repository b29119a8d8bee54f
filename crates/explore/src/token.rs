//! Access control: a request needs the token of the printed address.
//!
//! Every user of the machine can connect to the port. The address has a random token, and the first
//! page sets it as a cookie, so that it stands in no later address.

/// A secret of this process.
pub(crate) struct Token(String);

impl Token {
    /// From the system's source of random numbers.
    pub(crate) fn new() -> std::io::Result<Token> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Token(bytes.iter().map(|b| format!("{b:02x}")).collect()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token. Takes as long for every text of its length.
    fn is(&self, text: &str) -> bool {
        let (a, b) = (self.0.as_bytes(), text.as_bytes());
        a.len() == b.len() && a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y)) == 0
    }

    /// Whether the part of an address behind the question mark has it.
    pub(crate) fn is_in_query(&self, query: &str) -> bool {
        query
            .split('&')
            .any(|p| p.strip_prefix("token=").is_some_and(|t| self.is(t)))
    }

    /// Whether the header `Cookie` of a request has it.
    pub(crate) fn is_in_cookies(&self, cookies: &str, port: u16) -> bool {
        let name = cookie_name(port);
        let mut pairs = cookies.split(';').filter_map(|c| c.trim().split_once('='));
        pairs.any(|(n, value)| n == name && self.is(value))
    }

    /// The header that sets the cookie.
    pub(crate) fn set_cookie(&self, port: u16) -> String {
        let name = cookie_name(port);
        format!(
            "Set-Cookie: {name}={}; Path=/; HttpOnly; SameSite=Strict\r\n",
            self.0
        )
    }
}

/// Browsers send cookies to all ports of a host.
fn cookie_name(port: u16) -> String {
    format!("taipan-explore-{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_counts() {
        let (token, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_eq!(token.text().len(), 32);
        assert_ne!(token.text(), other.text());
        for (query, fits) in [
            (format!("token={}", token.text()), true),
            (format!("a=b&token={}", token.text()), true),
            (format!("token={}", other.text()), false),
            (format!("token={}x", token.text()), false),
            (format!("other={}", token.text()), false),
            ("token=".to_owned(), false),
        ] {
            assert_eq!(token.is_in_query(&query), fits, "{query}");
        }
        let set = token.set_cookie(80);
        let pair = set.strip_prefix("Set-Cookie: ").unwrap().split(';').next();
        assert!(token.is_in_cookies(&format!("a=b; {}", pair.unwrap()), 80));
        assert!(!token.is_in_cookies(pair.unwrap(), 81));
        assert!(!other.is_in_cookies(pair.unwrap(), 80));
    }
}
