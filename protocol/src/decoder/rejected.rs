//! Bytes that a decoder dropped.

use crate::message::MessageError;

/// Bytes that were dropped, and why.
///
/// `E` is the error of what the decoder looks for: messages, unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{bytes} bytes dropped: {kind}")]
pub struct Rejected<E = MessageError> {
    /// Why.
    pub kind: RejectedKind<E>,
    /// How many bytes, at least 1.
    pub bytes: usize,
}

impl<E> Rejected<E> {
    pub(crate) const fn invalid(error: E, bytes: usize) -> Self {
        Self {
            kind: RejectedKind::Invalid(error),
            bytes,
        }
    }
}

/// Why bytes were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum RejectedKind<E = MessageError> {
    /// They stand outside of any message.
    #[error("outside of any message")]
    Skipped,
    /// The next message began before this one was complete.
    #[error("message {id:#04x} cut off by the start of the next")]
    Truncated {
        /// The id of the message that was cut off.
        id: u8,
        /// The length it declared in bytes, `None` if it was cut off in its header.
        declared: Option<u16>,
    },
    /// They are framed as they should be and say something impossible.
    #[error(transparent)]
    Invalid(E),
}
