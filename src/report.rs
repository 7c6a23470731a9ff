//! The arbiter's report.
