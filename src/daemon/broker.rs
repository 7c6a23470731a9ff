//! Reports the state of the connection to the broker in the same way as the outputs report theirs.

use crate::outputs::mqtt::{ConnectionState, Outbox};
use crate::outputs::shared::reports::{BROKER, Reports};
use crate::system_time::wall_time;

/// Starts reporting, if there is a broker. Must be called within a runtime.
pub(super) fn start(outbox: Option<&Outbox>, reports: &Reports) {
    if let Some(outbox) = outbox {
        // The task ends with the outbox and needs no cleanup, so it is not awaited.
        tokio::spawn(follow(outbox.clone(), reports.clone()));
    }
}

async fn follow(outbox: Outbox, reports: Reports) {
    reports.expect(BROKER);
    let mut connection = outbox.connection();
    loop {
        let state = *connection.borrow_and_update();
        match state {
            ConnectionState::Connected => {
                reports.done(BROKER, wall_time(), "connected".to_owned());
            }
            ConnectionState::Disconnected => {
                if let Some(why) = outbox.why_lost() {
                    reports.problems(BROKER, vec![why]);
                }
            }
            // During an attempt to connect, the previous report holds.
            ConnectionState::Connecting => {}
            ConnectionState::Stopped => return,
        }
        if connection.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::mqtt::MqttConfig;

    #[tokio::test]
    async fn a_broker_that_is_not_there_is_reported_with_the_reason() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let config = MqttConfig::from_url(&format!("mqtt://{address}")).expect("a URL");
        let (outbox, task) = Outbox::connect(config, None).expect("an outbox");
        let reports = Reports::default();
        let running = tokio::spawn(task.run(core::future::pending()));
        let following = tokio::spawn(follow(outbox, reports.clone()));
        let problem = async {
            loop {
                if let Some(report) = reports.all().get(BROKER).filter(|report| !report.ok) {
                    return report.problems.join("");
                }
                tokio::time::sleep(core::time::Duration::from_millis(20)).await;
            }
        };
        let problem = tokio::time::timeout(core::time::Duration::from_secs(20), problem).await;
        let problem = problem.expect("it is told");
        assert!(problem.contains(&address.to_string()), "{problem}");
        running.abort();
        let _ = running.await;
        let _ = following.await;
    }
}
