//! Reads text files, with helpful errors for files that are not UTF-8.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use thiserror::Error;

/// Reason why a file is not text. Each message includes the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum NoText {
    #[error("this is a directory: name a file in it")]
    Folder,
    #[error("the file is larger than 64 MB: check the file name")]
    TooLarge,
    #[error("this is a pipe or a device, not a file: write its content to a file, and name that file")]
    NotAFile,
    #[error(
        "the file is in UTF-16, as saved by some editors under Windows: save it as UTF-8, or convert it with \
         `iconv -f UTF-16 -t UTF-8 FILE >NEWFILE`"
    )]
    Utf16,
    #[error(
        "line {line} is not UTF-8, but perhaps Latin-1: save the file as UTF-8, or convert it with `iconv -f \
         LATIN1 -t UTF-8 FILE >NEWFILE`"
    )]
    OtherBytes { line: usize },
    #[error("line {line} contains a zero byte, so this is not a text file: check the file name")]
    Binary { line: usize },
}

/// Maximum size of a text file, in bytes. The files that kiebitz reads are much smaller.
const MAX_BYTES: u64 = 64 << 20;
/// Byte order mark that Windows editors put before UTF-8.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
/// Byte order marks of UTF-16, little-endian and big-endian.
pub(crate) const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Reads a file as text, without a byte order mark. Fails if the file cannot be read, is a directory, or is not UTF-8.
/// The message includes the next step.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    decoded(&all_bytes(path, MAX_BYTES)?).map_err(no_text)
}

fn all_bytes(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max {
        true => Err(no_text(NoText::TooLarge)),
        false => Ok(bytes),
    }
}

/// Reads the first line of a file without the line break. Reads at most `longest` bytes, because a wrong file may be
/// endless.
pub(crate) fn read_first_line(path: &Path, longest: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    BufReader::new(open(path)?)
        .take(longest)
        .read_until(b'\n', &mut bytes)?;
    let mut line = decoded(&bytes).map_err(no_text)?;
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(line)
}

/// Reads a file with ASCII lines among text in any encoding, such as PEM. Fails if the file cannot be read, is a
/// directory, or is in UTF-16.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = all_bytes(path, MAX_BYTES)?;
    unmarked(&bytes).map(<[u8]>::to_vec).map_err(no_text)
}

/// Opens a file. Fails if it is a directory, or a pipe or a device, whose reader may wait forever. /dev/null is an empty
/// file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, NoText::Folder));
    }
    if !kind.is_file() && path != Path::new("/dev/null") {
        return Err(no_text(NoText::NotAFile));
    }
    File::open(path)
}

/// Reads a file as text like [`read`], and replaces bytes that are not UTF-8. Fails if the file cannot be read, or if it
/// is a directory, in UTF-16 or binary.
pub(crate) fn read_lossy(path: &Path) -> io::Result<String> {
    let bytes = all_bytes(path, MAX_BYTES)?;
    let bytes = in_bytes(&bytes).map_err(no_text)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn no_text(reason: NoText) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn decoded(bytes: &[u8]) -> Result<String, NoText> {
    let bytes = in_bytes(bytes)?;
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let line = line_of(bytes, error.valid_up_to());
        NoText::OtherBytes { line }
    })?;
    Ok(text.to_owned())
}

/// Removes the byte order mark from text in UTF-8 or in a single-byte encoding. Fails if the text is in UTF-16 or has a
/// zero byte.
pub(crate) fn in_bytes(bytes: &[u8]) -> Result<&[u8], NoText> {
    let bytes = unmarked(bytes)?;
    match bytes.iter().position(|byte| *byte == 0) {
        None => Ok(bytes),
        Some(zero) => Err(NoText::Binary {
            line: line_of(bytes, zero),
        }),
    }
}

/// Removes the byte order mark of UTF-8. Fails if the text is in UTF-16.
fn unmarked(bytes: &[u8]) -> Result<&[u8], NoText> {
    if UTF16_MARKS.iter().any(|mark| bytes.starts_with(mark)) || is_utf16(bytes) {
        return Err(NoText::Utf16);
    }
    Ok(bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes))
}

/// Whether the text is UTF-16 without a byte order mark: bytes in either the even or the odd positions are never 0, and
/// many of the others are.
fn is_utf16(bytes: &[u8]) -> bool {
    let zeros = |first: usize| {
        let every_other = bytes.iter().skip(first).step_by(2);
        every_other.filter(|byte| **byte == 0).count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    even.min(odd) == 0 && even.max(odd) * 4 > bytes.len()
}

/// Returns the number of the line with the byte at index `at`, from 1.
fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(bytes: &[u8]) -> Result<String, NoText> {
        decoded(bytes)
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf8_is_read_with_a_mark_and_without() {
        let text = "name = \"Größe\"\n";
        assert_eq!(read_text(text.as_bytes()).as_deref(), Ok(text));
        let marked = [UTF8_MARK, text.as_bytes()].concat();
        assert_eq!(read_text(&marked).as_deref(), Ok(text));
        assert_eq!(read_text(b"").as_deref(), Ok(""));
    }

    #[test]
    fn line_in_latin_1_is_named() {
        let latin = b"[event]\r\n# a comment\r\nname = \"M\xfcnchen\"\r\n";
        assert_eq!(read_text(latin), Err(NoText::OtherBytes { line: 3 }));
        let marked = [UTF8_MARK, latin].concat();
        assert_eq!(read_text(&marked), Err(NoText::OtherBytes { line: 3 }));
    }

    #[test]
    fn utf16_is_detected_with_a_mark_and_without() {
        let text = "[event]\nname = \"Größe ♔\"\n";
        for bytes in [utf16(text, u16::to_le_bytes), utf16(text, u16::to_be_bytes)] {
            assert_eq!(read_text(&bytes), Err(NoText::Utf16));
            for mark in UTF16_MARKS {
                assert_eq!(read_text(&[mark, &bytes].concat()), Err(NoText::Utf16));
            }
        }
        assert_eq!(
            read_text(b"[event]\nname = \0\0\n"),
            Err(NoText::Binary { line: 2 })
        );
    }

    #[test]
    fn only_the_first_line_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let first_line = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("room");
            read_first_line(&path, 8).map_err(|error| error.to_string())
        };
        assert_eq!(first_line(b"a word\r\n\xfc\n").as_deref(), Ok("a word"));
        assert_eq!(
            first_line(&[UTF8_MARK, b"word\n"].concat()).as_deref(),
            Ok("word")
        );
        assert_eq!(first_line(b"").as_deref(), Ok(""));
        assert_eq!(first_line(b"0123456789").as_deref(), Ok("01234567"));
        let latin = first_line(b"M\xfcller\n").expect_err("it is in Latin-1");
        assert!(latin.starts_with("line 1 is not UTF-8"), "{latin}");
        let wide = first_line(&utf16("ab\ncd", u16::to_le_bytes)).expect_err("the file is in UTF-16");
        assert!(wide.starts_with("the file is in UTF-16"), "{wide}");
    }

    #[test]
    fn bytes_in_any_encoding_but_utf16_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let bytes = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("room");
            read_bytes(&path).ok()
        };
        let any = b"M\xfcller\0\n".to_vec();
        assert_eq!(bytes(&any), Some(any.clone()));
        assert_eq!(bytes(&[UTF8_MARK, &any].concat()), Some(any));
        assert_eq!(bytes(&utf16("-----BEGIN", u16::to_be_bytes)), None);
        assert_eq!(bytes(b""), Some(Vec::new()));
    }

    /// Opening the pipe would wait for a writer forever.
    #[test]
    fn pipes_and_devices_are_refused_and_never_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("a pipe");
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            for error in [
                read(path).expect_err("refused"),
                read_first_line(path, 8).expect_err("refused"),
                read_bytes(path).expect_err("refused"),
            ] {
                assert!(
                    error.to_string().starts_with("this is a pipe or a device"),
                    "{error}"
                );
            }
        }
        assert_eq!(read(Path::new("/dev/null")).ok().as_deref(), Some(""));
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "12345678").expect("room");
        assert_eq!(all_bytes(&file, 8).expect("it fits"), b"12345678");
        let error = all_bytes(&file, 7).expect_err("too large");
        assert_eq!(error.to_string(), NoText::TooLarge.to_string());
        // A sparse file, larger than the memory of most computers.
        File::create(&file)
            .and_then(|file| file.set_len(1 << 36))
            .expect("room");
        for error in [
            read(&file).expect_err("too large"),
            read_bytes(&file).expect_err("too large"),
        ] {
            assert_eq!(error.to_string(), NoText::TooLarge.to_string());
        }
    }

    #[test]
    fn directory_is_not_a_text_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = read(folder.path()).expect_err("a folder is no text");
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        assert_eq!(error.to_string(), "this is a directory: name a file in it");
        let missing = read(&folder.path().join("no")).expect_err("it is not there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
