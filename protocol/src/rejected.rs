/// A number of dropped bytes and the reason.
///
/// `E` is the error type of the units that the decoder finds, for example [`MessageError`](crate::MessageError).
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
    /// Reason for the drop.
    pub kind: RejectedKind<E>,
    /// Number of dropped bytes, at least 1.
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
    /// The bytes are outside of any message.
    #[error("outside of any message")]
    Skipped,
    /// The next message began before the end of this message.
    #[error("message {id:#04x} cut off by the start of the next")]
    Truncated {
        /// The id of the message that was cut off.
        id: u8,
        /// Declared length in bytes; `None` if the message was cut off in its header, or is a bus command, which
        /// declares no length.
        declared: Option<u16>,
    },
    /// The bytes are framed correctly, but their contents are invalid.
    #[error(transparent)]
    Invalid(E),
}
