//! Brokers that throw the daemon out, or are too old, and what it says about that.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::eventually::eventually;
use crate::mosquitto::Mosquitto;
use crate::outage::Program;

/// A daemon called "pi" with that broker.
fn start(directory: &Path, broker: SocketAddr) -> Program {
    fs::create_dir_all(directory).unwrap();
    let config = format!(
        "[daemon]\nname = \"pi\"\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://{broker}\"\n[ports]\nusb = false\n",
        directory.join("state")
    );
    fs::write(directory.join("kiebitz.toml"), config).unwrap();
    Program::start(directory)
}

fn has_said(directory: &Path, words: &str) -> bool {
    fs::read_to_string(directory.join("log")).is_ok_and(|log| log.contains(words))
}

#[tokio::test]
async fn two_daemons_of_the_same_name_are_told_of_each_other() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Mosquitto::start().await;
    let (first, second) = (directory.path().join("first"), directory.path().join("second"));
    let _first = start(&first, broker.address());
    eventually("the first is connected", || {
        has_said(&first, "connected to the MQTT broker")
    });
    let _second = start(&second, broker.address());
    eventually("the first knows", || {
        has_said(&first, "another program uses the client id kiebitz-pi-")
    });
}

/// What answers every CONNECT with these bytes, and hangs up.
fn broker_that_hangs_up(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let read = client.read(&mut [0; 1024]);
            if read.is_ok() && client.write_all(answer).is_ok() {
                // The answer is to arrive before the end does.
                thread::sleep(Duration::from_millis(300));
            }
        }
    });
    address
}

#[test]
fn broker_that_hangs_up_without_a_word_is_understood() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // CONNACK of MQTT 5: accepted.
    let broker = broker_that_hangs_up(&[0x20, 0x03, 0x00, 0x00, 0x00]);
    let _kiebitz = start(directory.path(), broker);
    eventually("the log says it", || {
        has_said(
            directory.path(),
            "probably another program uses the client id kiebitz-pi-",
        )
    });
}

#[test]
fn broker_that_is_too_old_is_understood() {
    // CONNACK of MQTT 3.1.1, and of MQTT 5: unsupported protocol version.
    for answer in [&[0x20, 0x02, 0x00, 0x01][..], &[0x20, 0x03, 0x00, 0x84, 0x00]] {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let _kiebitz = start(directory.path(), broker_that_hangs_up(answer));
        eventually("the log says it", || has_said(directory.path(), "MQTT 5"));
    }
}
