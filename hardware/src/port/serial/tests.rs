use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::pty::OpenptFlags;
use rustix::termios::{ControlModes, InputModes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Opens a pseudo-terminal. Returns the board's side and the path of the host's side.
fn pseudo_terminal() -> (File, PathBuf) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let board = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&board).unwrap();
    rustix::pty::unlockpt(&board).unwrap();
    let path = rustix::pty::ptsname(&board, Vec::new()).unwrap();
    (File::from(board), path.into_string().unwrap().into())
}

/// Returns all 256 bytes, including the control characters that a terminal would interpret.
fn every_byte() -> Vec<u8> {
    (0..=u8::MAX).rev().collect()
}

#[tokio::test]
async fn bytes_pass_unchanged_in_both_directions() {
    let (mut board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();

    board.write_all(&every_byte()).unwrap();
    let mut received = [0; 256];
    port.read_exact(&mut received).await.unwrap();
    assert_eq!(received.as_slice(), every_byte());

    port.write_all(&every_byte()).await.unwrap();
    port.flush().await.unwrap();
    let mut received = [0; 256];
    board.read_exact(&mut received).unwrap();
    assert_eq!(received.as_slice(), every_byte());
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
async fn a_port_in_use_is_refused_with_its_holder() {
    let (mut board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    match SerialPort::open(&path) {
        Err(PortError::Busy { device, holder }) => {
            assert_eq!(device, path);
            assert_eq!(holder.map(|process| process.id), Some(std::process::id()));
        }
        other => panic!("{other:?}"),
    }

    // The failed attempt does not disturb the open port.
    board.write_all(&[0x86]).unwrap();
    assert_eq!(port.read_u8().await.unwrap(), 0x86);

    drop(port);
    SerialPort::open(&path).unwrap();
}

#[tokio::test]
async fn a_pseudo_terminal_is_locked_without_tiocexcl() {
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
async fn an_unplugged_port_fails_with_a_plain_reason() {
    let (board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    drop(board);
    let mut buffer = [0; 16];
    assert_eq!(port.read(&mut buffer).await.unwrap_err().to_string(), "unplugged");
    assert_eq!(port.write(&[0x42]).await.unwrap_err().to_string(), "unplugged");
}

#[tokio::test]
async fn bytes_sent_before_unplugging_are_read() {
    let (mut board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    board.write_all(&[0x8e, 0, 5, 12, 0]).unwrap();
    let mut buffer = [0; 5];
    port.read_exact(&mut buffer).await.unwrap();
    drop(board);
    assert_eq!(port.read(&mut buffer).await.unwrap_err().to_string(), "unplugged");
}

#[tokio::test]
async fn a_board_that_does_not_read_does_not_block_the_thread() {
    let (_board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    let write = port.write_all(&[0; 1 << 20]);
    let waited = tokio::time::timeout(core::time::Duration::from_millis(50), write).await;
    assert!(waited.is_err(), "a pseudo-terminal holds no megabyte");
    port.flush().await.unwrap();
}

#[tokio::test]
async fn paths_without_a_serial_port_are_refused() {
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
async fn a_nonexistent_device_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    // Like a link in /dev/serial/by-id while the board is unplugged.
    let link = directory.path().join("board");
    std::os::unix::fs::symlink("/dev/ttyKIEBITZ", &link).unwrap();
    for path in [
        link.as_path(),
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
async fn a_path_that_is_not_unicode_is_refused() {
    let (_board, path) = pseudo_terminal();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join(OsStr::from_bytes(b"\xff"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let error = SerialPort::open(&link).unwrap_err().to_string();
    assert!(error.ends_with("the path is not Unicode text"), "{error}");
}

#[test]
fn the_librarys_message_is_used_if_the_system_reports_no_error() {
    let (_board, path) = pseudo_terminal();
    let error = serialport::Error::new(ErrorKind::Unknown, "Settings did not apply correctly");
    assert_eq!(
        explain_open_error(&path, &error).to_string(),
        format!("cannot open {}: Settings did not apply correctly", path.display())
    );
    assert_eq!(
        explain_open_error(Path::new("/dev/null"), &error),
        PortError::NotSerial {
            device: "/dev/null".into()
        }
    );
}

#[tokio::test]
async fn the_reason_depends_on_the_kind_of_device() {
    let (_board, path) = pseudo_terminal();
    let mut port = SerialPort::open(&path).unwrap();
    let reason = |port: &SerialPort, error: Errno| port.with_reason(&error.into()).to_string();
    assert_eq!(reason(&port, Errno::IO), "unplugged");
    assert_eq!(
        reason(&port, Errno::NOMEM),
        "the port failed: Cannot allocate memory (os error 12)"
    );
    port.kind = DeviceKind::Bluetooth;
    assert_eq!(reason(&port, Errno::HOSTDOWN), "Bluetooth link lost");
    port.kind = DeviceKind::PseudoTerminal;
}
