//! Ports on pseudo-terminals.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::pty::OpenptFlags;
use rustix::termios::{ControlModes, InputModes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// A pseudo-terminal: the board's side, and the path of the host's.
fn pseudo_terminal() -> (File, PathBuf) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let board = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&board).unwrap();
    rustix::pty::unlockpt(&board).unwrap();
    let path = rustix::pty::ptsname(&board, Vec::new()).unwrap();
    (File::from(board), path.into_string().unwrap().into())
}

/// All bytes, with those that terminals like to meddle with in the middle.
fn every_byte() -> Vec<u8> {
    (0..=u8::MAX).rev().collect()
}

#[tokio::test]
async fn bytes_pass_unchanged_in_both_directions() {
    let (mut board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();

    board.write_all(&every_byte()).unwrap();
    let mut heard = [0; 256];
    port.read_exact(&mut heard).await.unwrap();
    assert_eq!(heard.as_slice(), every_byte());

    port.write_all(&every_byte()).await.unwrap();
    port.flush().await.unwrap();
    let mut heard = [0; 256];
    board.read_exact(&mut heard).unwrap();
    assert_eq!(heard.as_slice(), every_byte());
}

#[tokio::test]
async fn the_line_is_set_to_9600_8n1() {
    let (board, path) = pseudo_terminal();
    let _port = SerialPort::open(&path).unwrap();
    // The board's side has the same settings.
    let modes = rustix::termios::tcgetattr(&board).unwrap();
    assert_eq!((modes.input_speed(), modes.output_speed()), (9600, 9600));
    let control = modes.control_modes;
    assert_eq!(control & ControlModes::CSIZE, ControlModes::CS8);
    assert!(!control.intersects(ControlModes::PARENB | ControlModes::CSTOPB | ControlModes::CRTSCTS));
    assert!(control.contains(ControlModes::CREAD | ControlModes::CLOCAL));
    assert!(!modes.input_modes.intersects(InputModes::IXON | InputModes::IXOFF));
}

#[tokio::test]
async fn a_port_is_opened_once_even_by_root_and_says_who_has_it() {
    let (mut board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    match SerialPort::open(&path) {
        Err(PortError::Busy { device, holder }) => {
            assert_eq!(device, path);
            assert_eq!(holder.map(|process| process.id), Some(std::process::id()));
        }
        other => panic!("{other:?}"),
    }

    // The attempt did no harm.
    board.write_all(&[0x86]).unwrap();
    assert_eq!(port.read_u8().await.unwrap(), 0x86);

    drop(port);
    SerialPort::open(&path).unwrap();
}

#[tokio::test]
async fn a_pseudo_terminal_is_kept_by_the_lock_alone() {
    let (_board, path) = pseudo_terminal();
    let port = SerialPort::open(&path).unwrap();
    assert!(!port.line.exclusive());
    let other = File::open(&path).unwrap();
    assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    drop(port);
    other.try_lock().unwrap();
    assert!(matches!(SerialPort::open(&path), Err(PortError::Busy { .. })));
}

#[tokio::test]
async fn a_pulled_cable_is_a_plain_reason() {
    let (board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    drop(board);
    let mut buffer = [0; 16];
    assert_eq!(port.read(&mut buffer).await.unwrap_err().to_string(), "unplugged");
    assert_eq!(port.write(&[0x42]).await.unwrap_err().to_string(), "unplugged");
}

#[tokio::test]
async fn what_was_sent_before_the_cable_was_pulled_is_read() {
    let (mut board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    board.write_all(&[0x8e, 0, 5, 12, 0]).unwrap();
    let mut buffer = [0; 5];
    port.read_exact(&mut buffer).await.unwrap();
    drop(board);
    assert_eq!(port.read(&mut buffer).await.unwrap_err().to_string(), "unplugged");
}

#[tokio::test]
async fn a_board_that_reads_nothing_does_not_hold_up_the_thread() {
    let (_board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    let write = port.write_all(&[0; 1 << 20]);
    let waited = tokio::time::timeout(core::time::Duration::from_millis(50), write).await;
    assert!(waited.is_err(), "a pseudo-terminal holds no megabyte");
    port.flush().await.unwrap();
}

#[tokio::test]
async fn what_is_no_port_is_said_to_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    for path in [folder.path(), &file, Path::new("/dev/null"), &link] {
        let error = SerialPort::open(path).unwrap_err();
        assert_eq!(
            error,
            PortError::NotSerial {
                device: path.to_owned()
            }
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_missing() {
    let (board, path) = pseudo_terminal();
    drop(board);
    for path in [
        path.as_path(),
        Path::new("/dev/ttyKIEBITZ"),
        Path::new("/dev/null/tty"),
    ] {
        let error = SerialPort::open(path).unwrap_err();
        assert_eq!(
            error,
            PortError::Missing {
                device: path.to_owned()
            }
        );
    }
}

#[tokio::test]
async fn a_path_that_is_no_text_is_refused_as_such() {
    let (_board, path) = pseudo_terminal();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join(OsStr::from_bytes(b"\xff"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let error = SerialPort::open(&link).unwrap_err().to_string();
    assert!(error.ends_with("the path is not Unicode text"), "{error}");
}

#[test]
fn a_failure_that_the_system_cannot_explain_is_told_in_the_librarys_words() {
    let (_board, path) = pseudo_terminal();
    let error = serialport::Error::new(ErrorKind::Unknown, "Settings did not apply correctly");
    assert_eq!(
        explained(&path, &error).to_string(),
        format!("cannot open {}: Settings did not apply correctly", path.display())
    );
    assert_eq!(
        explained(Path::new("/dev/null"), &error),
        PortError::NotSerial {
            device: "/dev/null".into()
        }
    );
}

#[tokio::test]
async fn the_reason_fits_the_kind_of_line() {
    let (_board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    let reason = |port: &SerialPort, error: Errno| port.lost(&error.into()).to_string();
    assert_eq!(reason(&port, Errno::IO), "unplugged");
    assert_eq!(
        reason(&port, Errno::NOMEM),
        "the port failed: Cannot allocate memory (os error 12)"
    );
    port.kind = DeviceKind::Bluetooth;
    assert_eq!(reason(&port, Errno::HOSTDOWN), "Bluetooth link lost");
    port.kind = DeviceKind::PseudoTerminal;
}
