//! Polls the boards on a serial port and prints their observations until the port is lost.
//!
//! ```text
//! cargo run --example poll --features port
//! cargo run --example poll --features port -- /dev/ttyUSB0
//! ```
//!
//! Without an argument, uses the only port that may have a board. Works on Linux only.

#[cfg(target_os = "linux")]
use linux::run;

fn main() -> std::process::ExitCode {
    run(std::env::args().nth(1))
}

#[cfg(not(target_os = "linux"))]
fn run(_: Option<String>) -> std::process::ExitCode {
    2.into()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{self, Write};
    use std::process::ExitCode;
    use std::time::{SystemTime, UNIX_EPOCH};

    use kiebitz_hardware::port::{Candidate, PortError, PortList, PortSettings, SerialPort};
    use kiebitz_hardware::{Line, LineSettings, Timestamp};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::timeout;

    pub(super) fn run(path: Option<String>) -> ExitCode {
        let result = match choose(path) {
            Ok(candidate) => poll(&candidate),
            Err(advice) => {
                let _ = writeln!(io::stderr(), "{advice}");
                return ExitCode::from(2);
            }
        };
        let Err(error) = result;
        let _ = writeln!(io::stderr(), "{error}");
        ExitCode::FAILURE
    }

    /// Returns the given port or, without a path, the only port that may have a board.
    fn choose(path: Option<String>) -> Result<Candidate, String> {
        let search = path.is_none();
        let mut ports = PortList::new(PortSettings {
            search,
            paths: path.into_iter().map(Into::into).collect(),
            ..PortSettings::default()
        });
        let mut listing = ports.list();
        if let Some(device) = listing.missing.pop() {
            return Err(PortError::Missing { device }.to_string());
        }
        if let Some(trouble) = listing.trouble {
            return Err(trouble.to_string());
        }
        if listing.candidates.len() > 1 {
            let names = listing
                .candidates
                .iter()
                .map(|port| format!("\n  {}", port.device.display()));
            return Err(format!(
                "Several ports may carry a board. Give one:{}",
                names.collect::<String>()
            ));
        }
        let only = listing.candidates.pop();
        only.ok_or_else(|| {
            "No port that may carry a board was found. Plug one in, or give the path of another: poll /dev/ttyS0".to_owned()
        })
    }

    /// Returns only when the port cannot be opened or is lost.
    #[tokio::main(flavor = "current_thread")]
    async fn poll(candidate: &Candidate) -> Result<core::convert::Infallible, io::Error> {
        let mut port = SerialPort::open(&candidate.device).map_err(io::Error::other)?;
        // The line does no I/O and never reads a clock, so this loop does both.
        let mut line = Line::keeping(LineSettings::for_port(candidate.kind, None));
        line.handle_opened(now());
        let mut buffer = [0; 512];
        loop {
            line.handle_deadline(now());
            while let Some(bytes) = line.poll_transmit(now()) {
                port.write_all(&bytes).await?;
                line.handle_sent(now(), &bytes);
            }
            while let Some((place, observed)) = line.poll_observation() {
                let seconds = observed.at.as_micros() as f64 / 1e6;
                writeln!(io::stdout(), "{seconds:.3} {place:?} {:?}", observed.observation)?;
            }
            if let Some(reason) = line.poll_close() {
                return Err(io::Error::other(reason));
            }
            let read = port.read(&mut buffer);
            let read = match line.poll_deadline() {
                Some(due) => timeout(due.saturating_duration_since(now()), read).await,
                None => Ok(read.await),
            };
            if let Ok(read) = read {
                line.handle_bytes(now(), &buffer[..read?]);
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the driver of a line reads the clock for it"
    )]
    fn now() -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(0) + since
    }
}
