//! How values came to places, as data and in words.

use std::fmt;

/// How a value came to a place: in words, the end of a sentence that starts with the value. Ordered as
/// the words are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Way {
    /// From a class, or a prebuilt instance of it.
    Class,
    /// From a prebuilt instance.
    Instance,
    /// From a prebuilt object that no function uses.
    Prebuilt,
    /// From an instruction.
    Here {
        /// Its line, if no file has it.
        line: Option<String>,
        /// Its function, if that is to be named.
        function: Option<String>,
    },
    /// From the caller of the program.
    Outside,
    /// The value is part of a prebuilt object; a function uses it at the place.
    UsedPrebuilt,
    /// It is the result of this function, one of several that a call may reach.
    ReturnedBy(String),
    /// It is returned at the place.
    Returned,
    /// The function ends without a `return`.
    ReturnedAtEnd,
}

impl Way {
    /// The way without the name of the function.
    pub(crate) fn unnamed(&self) -> Way {
        match self {
            Way::Here { line, .. } => Way::Here {
                line: line.clone(),
                function: None,
            },
            other => other.clone(),
        }
    }

    /// The words about two values.
    pub(crate) fn of_both(&self) -> String {
        let verb = if self.comes() { "come from" } else { "are" };
        format!("{verb} {}", self.whence())
    }

    /// The words in a relative clause about a value that was named before.
    pub(crate) fn of_former(&self) -> String {
        if self.comes() {
            format!("which {self}")
        } else {
            self.to_string()
        }
    }

    fn comes(&self) -> bool {
        match self {
            Way::Class | Way::Instance | Way::Prebuilt | Way::Here { .. } | Way::Outside => true,
            Way::UsedPrebuilt | Way::ReturnedBy(_) | Way::Returned | Way::ReturnedAtEnd => false,
        }
    }

    /// The words behind the verb.
    fn whence(&self) -> String {
        match self {
            Way::Class => "a class or a prebuilt instance".to_owned(),
            Way::Instance => "a prebuilt instance".to_owned(),
            Way::Prebuilt => "a prebuilt object".to_owned(),
            Way::Here { line, function } => {
                let place = line.as_deref().unwrap_or("here");
                match function {
                    Some(function) => format!("{place}, in {function}()"),
                    None => place.to_owned(),
                }
            }
            Way::Outside => "outside the program".to_owned(),
            Way::UsedPrebuilt => "in a prebuilt object that is used here".to_owned(),
            Way::ReturnedBy(function) => format!("returned by {function}()"),
            Way::Returned => "returned here".to_owned(),
            Way::ReturnedAtEnd => "returned where the function ends".to_owned(),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.comes() { "comes from" } else { "is" };
        write!(f, "{verb} {}", self.whence())
    }
}
