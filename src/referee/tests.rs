//! What the tests of this room share.

pub(super) mod table;
