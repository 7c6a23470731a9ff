//! The connections of one listener. A new connection always gets a place soon: if all places are taken, the connection
//! that is missed least ends.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};

use super::Listener;

/// Pause after a failed `accept`, for example if the limit of open files is reached.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The places of a listener. If all are taken and a client connects, one of the others ends, in this order:
///
/// 1. a connection whose client has not shown who it is, see [`Place::set_known`],
/// 2. a connection of the address that has the most,
/// 3. a connection that waits for its client,
/// 4. the oldest.
///
/// A known client that is being served never loses its place. If there are only such clients, the new one waits.
#[derive(Debug, Clone)]
pub(crate) struct Places(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    table: Mutex<Table>,
    /// Notified when a place is free.
    freed: Notify,
}

#[derive(Debug)]
struct Table {
    max: usize,
    next: u64,
    /// In the order of their age.
    held: BTreeMap<u64, Held>,
}

#[derive(Debug)]
struct Held {
    address: IpAddr,
    is_known: bool,
    is_served: bool,
    /// `None` if the connection was told to end.
    end: Option<oneshot::Sender<()>>,
}

/// The place of one connection, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    shared: Arc<Shared>,
    id: u64,
}

/// Resolves when a connection has to end because a new one needs its place. Never resolves once the place is free.
#[derive(Debug)]
pub(crate) struct Ended(oneshot::Receiver<()>);

impl Ended {
    pub(crate) async fn wait(self) {
        if self.0.await.is_err() {
            core::future::pending().await
        }
    }
}

impl Places {
    pub(crate) fn of(listener: Listener) -> Self {
        Self::new(listener.connections())
    }

    pub(crate) fn new(max: usize) -> Self {
        Self(Arc::new(Shared {
            table: Mutex::new(Table {
                max,
                next: 0,
                held: BTreeMap::new(),
            }),
            freed: Notify::new(),
        }))
    }

    /// Accepts the next connection and gives it a place. Waits while no place can be had, and after errors.
    pub(crate) async fn accept(&self, listener: &TcpListener) -> (TcpStream, Place, Ended) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    let (place, ended) = self.take(address).await;
                    return (stream, place, ended);
                }
                Err(error) => wait_after(&error).await,
            }
        }
    }

    /// Takes a place for a client. The caller must drop the place when [`Ended`] resolves.
    async fn take(&self, address: SocketAddr) -> (Place, Ended) {
        loop {
            if let Some(taken) = self.try_take(address) {
                return taken;
            }
            self.0.freed.notified().await;
        }
    }

    /// Takes a place; `None` if none is free, after telling a connection to end.
    fn try_take(&self, address: SocketAddr) -> Option<(Place, Ended)> {
        let mut table = self.0.lock();
        if table.held.len() >= table.max {
            table.end_one();
            return None;
        }
        let id = table.next;
        table.next += 1;
        let (end, ended) = oneshot::channel();
        let held = Held {
            address: network(address.ip()),
            is_known: false,
            is_served: false,
            end: Some(end),
        };
        table.held.insert(id, held);
        let shared = Arc::clone(&self.0);
        Some((Place { shared, id }, Ended(ended)))
    }
}

async fn wait_after(error: &io::Error) {
    tracing::debug!("cannot accept a connection: {error}");
    tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
}

/// Returns the network that one subscriber has: an address of IPv4, or 64 bits of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Tells the connection that is missed least to end, unless one has been told already.
    fn end_one(&mut self) {
        if self.held.values().any(|held| held.end.is_none()) {
            return;
        }
        let mut of_address = BTreeMap::<IpAddr, usize>::new();
        for held in self.held.values() {
            *of_address.entry(held.address).or_default() += 1;
        }
        let missed_least = self
            .held
            .iter_mut()
            .filter(|(_, held)| !(held.is_known && held.is_served))
            .min_by_key(|(id, held)| {
                let others = of_address.get(&held.address).copied().unwrap_or(0);
                (held.is_known, core::cmp::Reverse(others), held.is_served, **id)
            });
        if let Some(end) = missed_least.and_then(|(_, held)| held.end.take()) {
            // Fails if the connection is ending by itself.
            let _ = end.send(());
        }
    }
}

impl Place {
    /// Notes that the client has shown who it is, for example by a valid session.
    pub(crate) fn set_known(&self) {
        self.change(|held| held.is_known = true);
    }

    pub(crate) fn is_known(&self) -> bool {
        let table = self.shared.lock();
        table.held.get(&self.id).is_some_and(|held| held.is_known)
    }

    /// Notes whether the client has sent a complete request that is being answered.
    pub(crate) fn set_served(&self, is_served: bool) {
        self.change(|held| held.is_served = is_served);
    }

    fn change(&self, change: impl FnOnce(&mut Held)) {
        if let Some(held) = self.shared.lock().held.get_mut(&self.id) {
            change(held);
        }
    }

    /// Frees the place of a connection that goes on. The caller must limit such connections itself.
    pub(crate) fn free(&self) {
        if self.shared.lock().held.remove(&self.id).is_some() {
            self.shared.freed.notify_one();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(host: u8) -> SocketAddr {
        ([192, 0, 2, host], 1000).into()
    }

    fn is_told(ended: &mut Ended) -> bool {
        ended.0.try_recv().is_ok()
    }

    /// Takes all places of a listener for these hosts.
    fn taken(hosts: &[u8]) -> (Places, Vec<(Place, Ended)>) {
        let places = Places::new(hosts.len());
        let held = hosts.iter().map(|host| places.try_take(from(*host)));
        let held: Option<Vec<(Place, Ended)>> = held.collect();
        (places, held.expect("room"))
    }

    /// The number of the connection that ends when another client connects.
    fn ends(places: &Places, held: &mut [(Place, Ended)]) -> Option<usize> {
        assert!(places.try_take(from(99)).is_none());
        held.iter_mut().position(|(_, ended)| is_told(ended))
    }

    #[test]
    fn the_address_with_most_connections_loses_its_oldest() {
        let (places, mut held) = taken(&[1, 2, 2, 2, 1]);
        assert_eq!(ends(&places, &mut held), Some(1));
        assert_eq!(ends(&places, &mut held), None, "one that ends is enough");
        drop(held.remove(1));
        let newcomer = places.try_take(from(99));
        assert!(newcomer.is_some());
    }

    #[test]
    fn known_clients_keep_their_places() {
        let (places, mut held) = taken(&[1, 1, 1, 2]);
        for (place, _) in &held[..3] {
            place.set_known();
        }
        assert_eq!(ends(&places, &mut held), Some(3));
        let (places, mut held) = taken(&[1, 1, 2]);
        for (place, _) in &held {
            place.set_known();
            place.set_served(true);
        }
        assert_eq!(ends(&places, &mut held), None);
        held[2].0.set_served(false);
        assert_eq!(ends(&places, &mut held), Some(2));
    }

    #[test]
    fn a_connection_that_waits_for_its_client_ends_before_one_that_is_served() {
        let (places, mut held) = taken(&[1, 1, 1]);
        held[0].0.set_served(true);
        held[1].0.set_served(true);
        assert_eq!(ends(&places, &mut held), Some(2));
    }

    #[test]
    fn hosts_of_one_ipv6_network_count_together() {
        let places = Places::new(3);
        let take = |address: &str| {
            places
                .try_take(SocketAddr::new(address.parse().expect("an address"), 1))
                .expect("room")
        };
        let mut one = take("::ffff:192.0.2.1");
        let mut other = take("2001:db8::1");
        let mut third = take("2001:db8::ffff:2");
        assert!(places.try_take(from(1)).is_none());
        assert!(!is_told(&mut one.1) && is_told(&mut other.1) && !is_told(&mut third.1));
    }

    #[tokio::test]
    async fn a_new_connection_waits_until_the_other_has_ended() {
        let (places, mut held) = taken(&[1]);
        let (place, ended) = held.remove(0);
        let old = tokio::spawn(async move {
            ended.wait().await;
            drop(place);
        });
        let (_place, _) = places.take(from(2)).await;
        old.await.expect("it ends");
        assert_eq!(places.0.lock().held.len(), 1);
    }

    #[tokio::test]
    async fn a_place_can_be_freed_while_its_connection_goes_on() {
        let (places, mut held) = taken(&[1]);
        let (place, mut ended) = held.remove(0);
        place.free();
        let _other = places.take(from(2)).await;
        drop(place);
        assert_eq!(places.0.lock().held.len(), 1, "the place of the other is kept");
        assert!(!is_told(&mut ended));
    }
}
