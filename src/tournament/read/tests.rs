use super::*;
use crate::tournament::{FideList, ListError};

fn refused(name: &str, bytes: &[u8]) -> String {
    read_bytes(name, bytes).expect_err("no pairings").to_string()
}

#[test]
fn format_is_detected_by_the_content() {
    let pgn = b"[White \"A, A\"]\n[Black \"B, B\"]\n";
    let trf = b"012 Open\n001    1 m    Adler, Jonas\n";
    let csv = b"board,white,black\n1,A,B\n";
    for name in ["pairings.txt", "x", "r.csv", "r.trf", "r.pgn"] {
        for bytes in [pgn.as_slice(), trf, csv] {
            assert!(read_bytes(name, bytes).is_ok(), "{name}");
        }
    }
}

#[test]
fn other_files_are_refused_with_advice() {
    for (bytes, start) in [
        (b"".as_slice(), "x:1:1: the file is empty"),
        (b" \n\n", "x:1:1: the file is empty"),
        (b"PK\x03\x04...", "x:1:1: this is a zip file"),
        (b"\n<html>", "x:2:1: this is HTML or XML"),
        (b"ID Number      Name", "x:1:1: this is the FIDE rating list"),
        (b"a\nb\0c", "x:2:1: line 2 contains a zero byte"),
        (b"hello\n", "x:1:1: this is neither PGN nor"),
    ] {
        let error = refused("x", bytes);
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn folders_pipes_and_missing_files_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = read(&[folder.path().to_owned()]).expect_err("a folder");
    assert!(error.to_string().contains("this is a directory"), "{error}");
    let pipe = folder.path().join("pipe.pgn");
    let (kind, mode) = (
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    );
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).expect("a pipe");
    let error = read(std::slice::from_ref(&pipe)).expect_err("a pipe");
    assert!(
        error.to_string().contains("this is a pipe or a device"),
        "{error}"
    );
    let list = FideList::read(&pipe, &Tournament::default()).expect_err("a pipe");
    assert!(matches!(list, ListError::Unreadable { .. }), "{list}");
    let error = read(&[folder.path().join("no.pgn")]).expect_err("not there");
    assert!(error.to_string().starts_with("cannot read "), "{error}");
}
