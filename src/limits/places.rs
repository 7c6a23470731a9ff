//! The connections of one listener. A new connection always gets a place soon: if all places are taken, the connection
//! that is missed least ends.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

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
    /// Whether the connection was told to end.
    is_told: bool,
    end: Arc<Notify>,
}

/// The place of one connection, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    /// The table and the number in it.
    spot: Mutex<(Arc<Shared>, u64)>,
    end: Arc<Notify>,
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
    pub(crate) async fn accept(&self, listener: &TcpListener) -> (TcpStream, Place) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    return (stream, self.take(address).await);
                }
                Err(error) => wait_after(&error).await,
            }
        }
    }

    /// Takes a place for a client. The caller must drop the place when [`Place::ended`] resolves.
    async fn take(&self, address: SocketAddr) -> Place {
        loop {
            if let Some(taken) = self.try_take(address) {
                return taken;
            }
            self.0.freed.notified().await;
        }
    }

    /// Takes a place; `None` if none is free, after telling a connection to end.
    fn try_take(&self, address: SocketAddr) -> Option<Place> {
        let mut table = self.0.lock();
        if table.held.len() >= table.max {
            table.end_one();
            return None;
        }
        let end = Arc::new(Notify::new());
        let id = table.insert(Held {
            address: network(address.ip()),
            is_known: false,
            is_served: false,
            is_told: false,
            end: Arc::clone(&end),
        });
        let spot = Mutex::new((Arc::clone(&self.0), id));
        Some(Place { spot, end })
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
    fn insert(&mut self, held: Held) -> u64 {
        let id = self.next;
        self.next += 1;
        self.held.insert(id, held);
        id
    }

    /// Number of connections of each address that were not told to end.
    fn of_addresses(&self) -> BTreeMap<IpAddr, usize> {
        let mut of_addresses = BTreeMap::<IpAddr, usize>::new();
        for held in self.held.values().filter(|held| !held.is_told) {
            *of_addresses.entry(held.address).or_default() += 1;
        }
        of_addresses
    }

    /// Makes room for a long-lived connection from this address: tells the oldest of the address that has the most to
    /// end, if that address still has as many as this one then. Returns whether there is room.
    fn make_fair_room(&mut self, newcomer: IpAddr) -> bool {
        let of_addresses = self.of_addresses();
        if of_addresses.values().sum::<usize>() < self.max {
            return true;
        }
        let own = of_addresses.get(&newcomer).copied().unwrap_or(0);
        let most = of_addresses.iter().max_by_key(|(_, count)| **count);
        let Some((address, _)) = most.filter(|(_, count)| **count > own + 1) else {
            return false;
        };
        let mut oldest = self
            .held
            .values_mut()
            .filter(|held| held.address == *address && !held.is_told);
        if let Some(oldest) = oldest.next() {
            oldest.tell();
        }
        true
    }

    /// Tells the connection that is missed least to end, unless one has been told already.
    fn end_one(&mut self) {
        if self.held.values().any(|held| held.is_told) {
            return;
        }
        let of_addresses = self.of_addresses();
        let missed_least = self
            .held
            .iter_mut()
            .filter(|(_, held)| !(held.is_known && held.is_served))
            .min_by_key(|(id, held)| {
                let others = of_addresses.get(&held.address).copied().unwrap_or(0);
                (held.is_known, core::cmp::Reverse(others), held.is_served, **id)
            });
        if let Some((_, held)) = missed_least {
            held.tell();
        }
    }
}

impl Held {
    fn tell(&mut self) {
        self.is_told = true;
        self.end.notify_one();
    }
}

impl Place {
    /// Resolves when the connection has to end because a new one needs its place.
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
    }

    /// Moves a connection that becomes long-lived to the places for those. Returns whether there is room; if not, the
    /// connection keeps its old place.
    ///
    /// If all places are taken, a connection of another address ends if that address has more of them. An address that
    /// has the most gets no further place.
    pub(crate) fn move_to(&self, places: &Places) -> bool {
        let mut spot = self.spot();
        let (shared, id) = &*spot;
        // The tables are never locked at the same time.
        let Some(held) = shared.lock().held.remove(id) else {
            return false;
        };
        let mut table = places.0.lock();
        if !table.make_fair_room(held.address) {
            drop(table);
            shared.lock().held.insert(*id, held);
            return false;
        }
        let id = table.insert(Held {
            is_told: false,
            ..held
        });
        drop(table);
        shared.freed.notify_one();
        *spot = (Arc::clone(&places.0), id);
        true
    }

    fn spot(&self) -> MutexGuard<'_, (Arc<Shared>, u64)> {
        self.spot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the client has shown who it is, for example by a valid session.
    pub(crate) fn set_known(&self) {
        self.change(|held| held.is_known = true);
    }

    pub(crate) fn is_known(&self) -> bool {
        let spot = self.spot();
        let (shared, id) = &*spot;
        let table = shared.lock();
        table.held.get(id).is_some_and(|held| held.is_known)
    }

    /// Notes whether the client has sent a complete request that is being answered.
    pub(crate) fn set_served(&self, is_served: bool) {
        self.change(|held| held.is_served = is_served);
    }

    fn change(&self, change: impl FnOnce(&mut Held)) {
        let spot = self.spot();
        let (shared, id) = &*spot;
        if let Some(held) = shared.lock().held.get_mut(id) {
            change(held);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let spot = self.spot();
        let (shared, id) = &*spot;
        if shared.lock().held.remove(id).is_some() {
            shared.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(host: u8) -> SocketAddr {
        ([192, 0, 2, host], 1000).into()
    }

    fn is_told(place: &Place) -> bool {
        let spot = place.spot();
        let (shared, id) = &*spot;
        let table = shared.lock();
        table.held.get(id).is_some_and(|held| held.is_told)
    }

    /// Takes all places of a listener for these hosts.
    fn taken(hosts: &[u8]) -> (Places, Vec<Place>) {
        let places = Places::new(hosts.len());
        let held = hosts.iter().map(|host| places.try_take(from(*host)));
        let held: Option<Vec<Place>> = held.collect();
        (places, held.expect("room"))
    }

    /// The number of the connection that ends when another client connects.
    fn ends(places: &Places, held: &[Place]) -> Option<usize> {
        assert!(places.try_take(from(99)).is_none());
        held.iter().position(is_told)
    }

    #[test]
    fn the_address_with_most_connections_loses_its_oldest() {
        let (places, mut held) = taken(&[1, 2, 2, 2, 1]);
        assert_eq!(ends(&places, &held), Some(1));
        assert_eq!(ends(&places, &held), Some(1), "one that ends is enough");
        assert_eq!(held.iter().filter(|place| is_told(place)).count(), 1);
        drop(held.remove(1));
        assert!(places.try_take(from(99)).is_some());
    }

    #[test]
    fn known_clients_keep_their_places() {
        let (places, held) = taken(&[1, 1, 1, 2]);
        for place in &held[..3] {
            place.set_known();
        }
        assert_eq!(ends(&places, &held), Some(3));
        let (places, held) = taken(&[1, 1, 2]);
        for place in &held {
            place.set_known();
            place.set_served(true);
        }
        assert_eq!(ends(&places, &held), None);
        held[2].set_served(false);
        assert_eq!(ends(&places, &held), Some(2));
    }

    #[test]
    fn a_connection_that_waits_for_its_client_ends_before_one_that_is_served() {
        let (places, held) = taken(&[1, 1, 1]);
        held[0].set_served(true);
        held[1].set_served(true);
        assert_eq!(ends(&places, &held), Some(2));
    }

    #[test]
    fn hosts_of_one_ipv6_network_count_together() {
        let places = Places::new(3);
        let take = |address: &str| {
            places
                .try_take(SocketAddr::new(address.parse().expect("an address"), 1))
                .expect("room")
        };
        let held = ["::ffff:192.0.2.1", "2001:db8::1", "2001:db8::ffff:2"].map(take);
        assert_eq!(ends(&places, &held), Some(1));
    }

    #[tokio::test]
    async fn a_new_connection_waits_until_the_other_has_ended() {
        let (places, mut held) = taken(&[1]);
        let place = held.remove(0);
        let old = tokio::spawn(async move { place.ended().await });
        let _place = places.take(from(2)).await;
        old.await.expect("it ends");
        assert_eq!(places.0.lock().held.len(), 1);
    }

    #[tokio::test]
    async fn a_long_lived_connection_leaves_its_place_to_another() {
        let (places, mut held) = taken(&[1]);
        let streams = Places::new(1);
        let place = held.remove(0);
        assert!(place.move_to(&streams));
        let _other = places.take(from(2)).await;
        drop(place);
        assert_eq!(places.0.lock().held.len(), 1, "the place of the other is kept");
        assert_eq!(streams.0.lock().held.len(), 0);
    }

    #[tokio::test]
    async fn long_lived_connections_are_divided_among_addresses() {
        let streams = Places::new(4);
        let stream_from = |host: u8| {
            let place = Places::new(1).try_take(from(host)).expect("room");
            let has_room = place.move_to(&streams);
            has_room.then_some(place)
        };
        let mut greedy: Vec<Place> = (0..4).filter_map(|_| stream_from(1)).collect();
        assert_eq!(greedy.len(), 4);
        assert!(stream_from(1).is_none(), "all places are taken");
        let second = stream_from(2).expect("a place of the greedy one");
        greedy.first().expect("a place").ended().await;
        greedy.remove(0);
        let third = stream_from(2).expect("another one");
        greedy.first().expect("a place").ended().await;
        greedy.remove(0);
        assert!(stream_from(2).is_none() && stream_from(1).is_none(), "two each");
        assert!(!greedy.iter().chain([&second, &third]).any(is_told));
        let fourth = stream_from(3).expect("one has two");
        assert_eq!(
            greedy
                .iter()
                .chain([&second, &third, &fourth])
                .filter(|place| is_told(place))
                .count(),
            1
        );
    }
}
