//! Limits the number of connections of a listener. If all places are taken when a client connects, the least important
//! connection ends, so that the new one soon gets its place.

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

/// The places of a listener. If all are taken when a client connects, one connection is told to end. It is chosen by
/// these criteria, of which a later one only breaks ties:
///
/// 1. connections of users who hold more than a quarter of all places first,
/// 2. then clients that are not [known](Place::set_known),
/// 3. then connections of the client that has the most,
/// 4. then connections without a request in progress,
/// 5. then the oldest connection.
///
/// A known client with a request in progress keeps its place, unless it is a user with more than a quarter of all
/// places. If no connection can end, the new client waits.
#[derive(Debug, Clone)]
pub(crate) struct Places(Arc<Shared>);

/// A client whose connections are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Client {
    /// The [network] of the client's address.
    Network(IpAddr),
    /// A logged-in user.
    User(String),
}

impl Client {
    pub(crate) fn of_address(address: IpAddr) -> Self {
        Self::Network(network(address))
    }
}

#[derive(Debug)]
struct Shared {
    table: Mutex<Table>,
    freed: Notify,
}

#[derive(Debug)]
struct Table {
    max: usize,
    next: u64,
    /// By number, so that the oldest comes first.
    connections: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    client: Client,
    is_known: bool,
    is_served: bool,
    is_ending: bool,
    end: Arc<Notify>,
}

/// The place of one connection. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    /// The table with the connection, and the connection's number there.
    slot: Mutex<(Arc<Shared>, u64)>,
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
                connections: BTreeMap::new(),
            }),
            freed: Notify::new(),
        }))
    }

    /// Accepts the next connection and assigns it a place. Waits until a place is free. Retries after errors of
    /// `accept`.
    pub(crate) async fn accept(&self, listener: &TcpListener) -> (TcpStream, Place) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    return (stream, self.acquire(address).await);
                }
                Err(error) => pause_after(&error).await,
            }
        }
    }

    /// Waits for a place for a client. The caller must drop the place when [`Place::ended`] resolves.
    async fn acquire(&self, address: SocketAddr) -> Place {
        loop {
            if let Some(taken) = self.try_acquire(address) {
                return taken;
            }
            self.0.freed.notified().await;
        }
    }

    /// Returns a place. If none is free, tells another connection to end and returns `None`.
    fn try_acquire(&self, address: SocketAddr) -> Option<Place> {
        let mut table = self.0.lock();
        if table.connections.len() >= table.max {
            table.end_least_important();
            return None;
        }
        let end = Arc::new(Notify::new());
        let id = table.insert(Connection {
            client: Client::of_address(address.ip()),
            is_known: false,
            is_served: false,
            is_ending: false,
            end: Arc::clone(&end),
        });
        let slot = Mutex::new((Arc::clone(&self.0), id));
        Some(Place { slot, end })
    }
}

async fn pause_after(error: &io::Error) {
    tracing::debug!("cannot accept a connection: {error}");
    tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
}

/// Returns the network that belongs to one client: a single IPv4 address, or the /64 prefix of an IPv6 address, which a
/// provider assigns to one subscriber.
pub(crate) fn network(address: IpAddr) -> IpAddr {
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
    fn insert(&mut self, connection: Connection) -> u64 {
        let id = self.next;
        self.next += 1;
        self.connections.insert(id, connection);
        id
    }

    /// Counts the matching connections of each client, except those that were told to end.
    fn count_by_client(&self, matches: impl Fn(&Connection) -> bool) -> BTreeMap<Client, usize> {
        let mut counts = BTreeMap::<Client, usize>::new();
        for connection in self
            .connections
            .values()
            .filter(|connection| !connection.is_ending && matches(connection))
        {
            *counts.entry(connection.client.clone()).or_default() += 1;
        }
        counts
    }

    /// Makes room for a long-lived connection of this client. If the table is full, tells the oldest connection of the
    /// client with the most connections to end, provided that client then still has at least as many as `newcomer`.
    /// Returns whether there is room.
    fn make_fair_room(&mut self, newcomer: &Client) -> bool {
        let counts = self.count_by_client(|_| true);
        if counts.values().sum::<usize>() < self.max {
            return true;
        }
        let own = counts.get(newcomer).copied().unwrap_or(0);
        let most = counts.iter().max_by_key(|(_, count)| **count);
        let Some((client, _)) = most.filter(|(_, count)| **count > own + 1) else {
            return false;
        };
        let mut oldest = self
            .connections
            .values_mut()
            .filter(|connection| connection.client == *client && !connection.is_ending);
        if let Some(oldest) = oldest.next() {
            oldest.request_end();
        }
        true
    }

    /// Tells the least important connection to end, unless one is already about to end.
    fn end_least_important(&mut self) {
        if self.connections.values().any(|connection| connection.is_ending) {
            return;
        }
        let counts = self.count_by_client(|_| true);
        let max_of_user = (self.max / 4).max(1);
        let count = |connection: &Connection| counts.get(&connection.client).copied().unwrap_or(0);
        // Only users are limited, because one address may have several known clients.
        let is_surplus = |connection: &Connection| {
            matches!(connection.client, Client::User(_)) && count(connection) > max_of_user
        };
        let least_important = self
            .connections
            .iter_mut()
            .filter(|(_, connection)| !connection.is_important() || is_surplus(connection))
            .min_by_key(|(id, connection)| {
                let count = count(connection);
                (
                    !is_surplus(connection),
                    connection.is_known,
                    core::cmp::Reverse(count),
                    connection.is_served,
                    **id,
                )
            });
        if let Some((_, connection)) = least_important {
            connection.request_end();
        }
    }
}

impl Connection {
    /// Whether the connection keeps its place, unless its user has too many such connections.
    const fn is_important(&self) -> bool {
        self.is_known && self.is_served
    }

    fn request_end(&mut self) {
        self.is_ending = true;
        self.end.notify_one();
    }
}

impl Place {
    /// Resolves when the connection must end because another one needs its place.
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
    }

    /// Moves the connection to another table, for example when it becomes long-lived. Returns false if `places` has no
    /// room for it; the connection then keeps its old place.
    ///
    /// If all places are taken, a connection of another client ends if that client has more of them. Otherwise there is
    /// no room.
    pub(crate) fn move_to(&self, places: &Places) -> bool {
        let mut slot = self.slot();
        let (shared, id) = &*slot;
        // Only one table is locked at a time, so there is no deadlock.
        let Some(connection) = shared.lock().connections.remove(id) else {
            return false;
        };
        let mut table = places.0.lock();
        if !table.make_fair_room(&connection.client) {
            drop(table);
            shared.lock().connections.insert(*id, connection);
            return false;
        }
        let id = table.insert(Connection {
            is_ending: false,
            ..connection
        });
        drop(table);
        shared.freed.notify_one();
        *slot = (Arc::clone(&places.0), id);
        true
    }

    fn slot(&self) -> MutexGuard<'_, (Arc<Shared>, u64)> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the client as known, for example after it has presented a valid session.
    pub(crate) fn set_known(&self) {
        self.change(|connection| connection.is_known = true);
    }

    /// Sets the client of the current request, which counts instead of the address of the connection. Users are known.
    pub(crate) fn set_client(&self, client: Client) {
        self.change(|connection| {
            connection.is_known = matches!(client, Client::User(_));
            connection.client = client;
        });
    }

    pub(crate) fn is_known(&self) -> bool {
        let slot = self.slot();
        let (shared, id) = &*slot;
        let table = shared.lock();
        table
            .connections
            .get(id)
            .is_some_and(|connection| connection.is_known)
    }

    /// Sets whether a complete request of the client is being answered.
    pub(crate) fn set_served(&self, is_served: bool) {
        self.change(|connection| connection.is_served = is_served);
    }

    fn change(&self, change: impl FnOnce(&mut Connection)) {
        let slot = self.slot();
        let (shared, id) = &*slot;
        if let Some(connection) = shared.lock().connections.get_mut(id) {
            change(connection);
        }
        // A waiting client tries again, because this connection may no longer be important.
        shared.freed.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let slot = self.slot();
        let (shared, id) = &*slot;
        if shared.lock().connections.remove(id).is_some() {
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

    fn is_ending(place: &Place) -> bool {
        let slot = place.slot();
        let (shared, id) = &*slot;
        let table = shared.lock();
        table
            .connections
            .get(id)
            .is_some_and(|connection| connection.is_ending)
    }

    /// Returns places that are all taken by these hosts.
    fn all_taken(hosts: &[u8]) -> (Places, Vec<Place>) {
        let places = Places::new(hosts.len());
        let held = hosts.iter().map(|host| places.try_acquire(from(*host)));
        let held: Option<Vec<Place>> = held.collect();
        (places, held.expect("room"))
    }

    /// Returns the index of the connection that must end when another client connects.
    fn ending_index(places: &Places, held: &[Place]) -> Option<usize> {
        assert!(places.try_acquire(from(99)).is_none());
        held.iter().position(is_ending)
    }

    #[test]
    fn the_address_with_most_connections_loses_its_oldest() {
        let (places, mut held) = all_taken(&[1, 2, 2, 2, 1]);
        assert_eq!(ending_index(&places, &held), Some(1));
        assert_eq!(ending_index(&places, &held), Some(1), "one that ends is enough");
        assert_eq!(held.iter().filter(|place| is_ending(place)).count(), 1);
        drop(held.remove(1));
        assert!(places.try_acquire(from(99)).is_some());
    }

    #[test]
    fn known_clients_keep_their_places() {
        let (places, held) = all_taken(&[1, 1, 1, 2]);
        for place in &held[..3] {
            place.set_known();
        }
        assert_eq!(ending_index(&places, &held), Some(3));
        let (places, held) = all_served(&[1, 2, 3]);
        assert_eq!(ending_index(&places, &held), None);
        held[2].set_served(false);
        assert_eq!(ending_index(&places, &held), Some(2));
    }

    /// Returns places that are all taken by these hosts, which are known and served.
    fn all_served(hosts: &[u8]) -> (Places, Vec<Place>) {
        let (places, held) = all_taken(hosts);
        for place in &held {
            place.set_known();
            place.set_served(true);
        }
        (places, held)
    }

    #[test]
    fn a_user_keeps_a_quarter_of_the_places() {
        let serve = |place: &Place, user: u8| {
            place.set_client(Client::User(user.to_string()));
            place.set_served(true);
        };
        let (places, mut held) = all_taken(&[1; 8]);
        for (place, user) in held.iter().zip([1, 1, 1, 1, 1, 2, 2, 3]) {
            serve(place, user);
        }
        for newcomer in 4..7 {
            assert_eq!(ending_index(&places, &held), Some(0), "the oldest of user 1");
            drop(held.remove(0));
            let place = places.try_acquire(from(1)).expect("a place");
            serve(&place, newcomer);
            held.push(place);
        }
        assert_eq!(ending_index(&places, &held), None, "user 1 has two");
        // Known clients at one address are not limited together.
        let (places, held) = all_served(&[1; 8]);
        assert_eq!(ending_index(&places, &held), None);
    }

    /// Somebody with the password of one user must not keep out users who are about to log in.
    #[test]
    fn connections_of_a_user_beyond_a_quarter_end_before_those_of_strangers() {
        let (places, mut held) = all_taken(&[1; 8]);
        for place in &held[..3] {
            place.set_client(Client::User("hall".to_owned()));
        }
        held[0].set_served(true);
        assert_eq!(
            ending_index(&places, &held),
            Some(1),
            "idle, of the user with three"
        );
        drop(held.remove(1));
        held.push(places.try_acquire(from(1)).expect("a place"));
        assert_eq!(ending_index(&places, &held), Some(2), "the oldest stranger");
    }

    #[test]
    fn users_and_clients_of_a_proxy_are_counted_separately() {
        let client = |host: u8| Client::of_address([198, 51, 100, host].into());
        let user = |name: &str| Client::User(name.to_owned());
        let (places, held) = all_taken(&[1, 1, 1, 1]);
        for (place, client) in held.iter().zip([client(1), client(2), client(2), user("meier")]) {
            place.set_client(client);
        }
        assert_eq!(ending_index(&places, &held), Some(1));

        let streams = Places::new(3);
        let stream_of = |client: Client| {
            let place = Places::new(1).try_acquire(from(1)).expect("room");
            place.set_client(client);
            let has_room = place.move_to(&streams);
            has_room.then_some(place)
        };
        let greedy: Vec<Place> = (0..3).filter_map(|_| stream_of(user("hall"))).collect();
        assert_eq!(greedy.len(), 3);
        assert!(stream_of(user("hall")).is_none());
        assert!(stream_of(user("meier")).is_some());
        assert!(is_ending(&greedy[0]));
    }

    #[tokio::test]
    async fn a_client_that_waits_gets_a_place_once_an_answer_is_sent() {
        let (places, mut held) = all_served(&[1, 2]);
        let waiting = tokio::spawn(async move { places.acquire(from(3)).await });
        // The task runs until it has to wait.
        tokio::task::yield_now().await;
        assert!(!held.iter().any(is_ending));
        held[1].set_served(false);
        let ended = tokio::time::timeout(Duration::from_secs(60), held[1].ended()).await;
        assert!(ended.is_ok(), "it ends for the one that waits");
        drop(held.remove(1));
        waiting.await.expect("a place");
    }

    #[test]
    fn a_connection_that_waits_for_its_client_ends_before_one_that_is_served() {
        let (places, held) = all_taken(&[1, 1, 1]);
        held[0].set_served(true);
        held[1].set_served(true);
        assert_eq!(ending_index(&places, &held), Some(2));
    }

    #[test]
    fn hosts_of_one_ipv6_network_count_together() {
        let places = Places::new(3);
        let take = |address: &str| {
            places
                .try_acquire(SocketAddr::new(address.parse().expect("an address"), 1))
                .expect("room")
        };
        let held = ["::ffff:192.0.2.1", "2001:db8::1", "2001:db8::ffff:2"].map(take);
        assert_eq!(ending_index(&places, &held), Some(1));
    }

    #[tokio::test]
    async fn a_new_connection_waits_until_the_other_has_ended() {
        let (places, mut held) = all_taken(&[1]);
        let place = held.remove(0);
        let old = tokio::spawn(async move { place.ended().await });
        let _place = places.acquire(from(2)).await;
        old.await.expect("it ends");
        assert_eq!(places.0.lock().connections.len(), 1);
    }

    #[tokio::test]
    async fn a_long_lived_connection_leaves_its_place_to_another() {
        let (places, mut held) = all_taken(&[1]);
        let streams = Places::new(1);
        let place = held.remove(0);
        assert!(place.move_to(&streams));
        let _other = places.acquire(from(2)).await;
        drop(place);
        assert_eq!(
            places.0.lock().connections.len(),
            1,
            "the place of the other is kept"
        );
        assert_eq!(streams.0.lock().connections.len(), 0);
    }

    #[tokio::test]
    async fn long_lived_connections_are_divided_among_addresses() {
        let streams = Places::new(4);
        let stream_from = |host: u8| {
            let place = Places::new(1).try_acquire(from(host)).expect("room");
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
        assert!(!greedy.iter().chain([&second, &third]).any(is_ending));
        let fourth = stream_from(3).expect("one has two");
        assert_eq!(
            greedy
                .iter()
                .chain([&second, &third, &fourth])
                .filter(|place| is_ending(place))
                .count(),
            1
        );
    }
}
