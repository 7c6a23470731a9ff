//! Bytes that a decoder dropped.

/// Bytes that were dropped, and why.
///
/// `E` is the error of the unit that the decoder looks for, such as
/// [`MessageError`](crate::MessageError).
///
/// ```
/// use kiebitz_protocol::{Decoder, RejectedKind};
///
/// let mut decoder = Decoder::new();
/// let mut reasons = Vec::new();
/// // Noise, then a field update that the next message cuts off.
/// decoder.feed(&[0x17, 0x8e, 0x00, 0x05, 0x24, 0x93, 0x00, 0x05, 0x01, 0x08], |decoded| {
///     reasons.extend(decoded.err().map(|rejected| (rejected.kind, rejected.bytes)));
/// });
/// let cut_off = RejectedKind::Truncated { id: 0x8e, declared: Some(5) };
/// assert_eq!(reasons, [(RejectedKind::Skipped, 1), (cut_off, 4)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{kind} (bytes dropped: {bytes})")]
#[non_exhaustive]
pub struct Rejected<E> {
    /// Why.
    pub kind: RejectedKind<E>,
    /// How many bytes, at least 1.
    pub bytes: usize,
}

impl<E> Rejected<E> {
    pub(crate) const fn skipped(bytes: usize) -> Self {
        Self {
            kind: RejectedKind::Skipped,
            bytes,
        }
    }

    pub(crate) const fn truncated(id: u8, declared: Option<u16>, bytes: usize) -> Self {
        Self {
            kind: RejectedKind::Truncated { id, declared },
            bytes,
        }
    }

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
pub enum RejectedKind<E> {
    /// They are outside of any message.
    #[error("outside of any message")]
    Skipped,
    /// The next message began before this one was complete.
    #[error("message {id:#04x} cut off by the start of the next")]
    Truncated {
        /// The id of the message that was cut off.
        id: u8,
        /// The length it declared in bytes, `None` if it was cut off in its header or declares none.
        declared: Option<u16>,
    },
    /// They are framed correctly, but their contents are impossible.
    #[error(transparent)]
    Invalid(E),
}
