//! Publishes to a bucket of an S3-compatible server, which first refuses the key, then lacks the bucket, later stops for
//! a while and at last loses the files.

use core::pin::Pin;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use object_store::aws::AmazonS3Builder;
use object_store::{Attribute, ObjectStoreExt};
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s::{S3Result, s3_error};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::lichess::Lichess;
use super::{Hall, until};

pub(super) const KEY: (&str, &str) = ("kiebitz", "open-sesame");

/// Refuses requests for the bucket "chess" if it does not exist. The server itself would create it, unlike others.
struct OnlyExisting {
    folder: PathBuf,
    /// Whether to answer 503 to all requests.
    is_busy: Arc<AtomicBool>,
}

impl S3Access for OnlyExisting {
    fn check<'a, 'c, 'x, 'f>(
        &'a self,
        context: &'c mut S3AccessContext<'x>,
    ) -> Pin<Box<dyn Future<Output = S3Result<()>> + Send + 'f>>
    where
        'a: 'f,
        'c: 'f,
        'x: 'f,
    {
        let allowed = match context.credentials() {
            _ if self.is_busy.load(Ordering::Relaxed) => Err(s3_error!(ServiceUnavailable)),
            None => Err(s3_error!(AccessDenied)),
            Some(_) if !self.folder.join("chess").is_dir() => Err(s3_error!(NoSuchBucket)),
            Some(_) => Ok(()),
        };
        Box::pin(core::future::ready(allowed))
    }
}

/// Serves the buckets in a folder. Answers 503 while `is_busy` is true.
pub(super) async fn serve(
    folder: &Path,
    at: SocketAddr,
    is_busy: Arc<AtomicBool>,
) -> (SocketAddr, JoinHandle<()>) {
    let mut builder = S3ServiceBuilder::new(FileSystem::new(folder).expect("a folder"));
    builder.set_auth(SimpleAuth::from_single(KEY.0, KEY.1));
    builder.set_access(OnlyExisting {
        folder: folder.to_owned(),
        is_busy,
    });
    let service = builder.build();
    let listener = TcpListener::bind(at).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let task = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
            connections.spawn(serving);
        }
    });
    (address, task)
}

#[tokio::test]
async fn a_bucket_gets_the_round_once_it_accepts_writes() {
    let lichess = Lichess::start([]).await;
    let hall = Hall::open(1, &lichess, "");
    let folder = hall.path().join("buckets");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (address, server) = serve(&folder, ([127, 0, 0, 1], 0).into(), Arc::default()).await;
    let config = std::fs::read_to_string(hall.path().join("kiebitz.toml")).expect("a configuration");
    let key_file = hall.path().join("key");
    let to = format!(
        "[publish]\ns3_endpoint = \"http://{address}\"\ns3_region = \"eu-central-1\"\ns3_key_file = {key_file:?}\n\
         to = [\"s3://chess/2026/open\", "
    );
    let config = config
        .replace("[publish]\nto = ", &to)
        .replace("/live\"\n", "/live\"]\n");
    std::fs::write(hall.path().join("kiebitz.toml"), config).expect("a configuration");
    std::fs::write(&key_file, format!("{}\nwrong\n", KEY.0)).expect("a key");
    let pairings = "board,round,white,black\n1,3,Adler,Berg\n2,3,Clausen,Dorn\n";
    std::fs::write(hall.path().join("round.csv"), pairings).expect("pairings");
    let daemon = hall.daemon();
    until("the wrong key is said", &hall, async || {
        let log = hall.log();
        log.contains("cannot update s3://chess/2026/open") && log.contains("the server rejects the key")
    })
    .await;
    until("others are not held up", &hall, async || {
        hall.on_disk("round-3/games.pgn").contains("Adler")
    })
    .await;
    std::fs::write(&key_file, format!("{}\n{}\n", KEY.0, KEY.1)).expect("a key");
    until("the missing bucket is reported", &hall, async || {
        hall.log().contains("the bucket chess does not exist: create it")
    })
    .await;
    std::fs::create_dir(folder.join("chess")).expect("a bucket");
    let read =
        |path: &str| std::fs::read_to_string(folder.join("chess/2026/open").join(path)).unwrap_or_default();
    until("the files", &hall, async || {
        read("tournament.json").contains("rounds") && read("round-3/games.pgn").contains("Clausen")
    })
    .await;
    until("the same as on the disk", &hall, async || {
        read("round-3/games.pgn") == hall.on_disk("round-3/games.pgn")
    })
    .await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = AmazonS3Builder::new()
        .with_bucket_name("chess")
        .with_endpoint(format!("http://{address}"))
        .with_allow_http(true)
        .with_access_key_id(KEY.0)
        .with_secret_access_key(KEY.1)
        .build()
        .expect("a client");
    let games = store
        .get(&"2026/open/round-3/games.pgn".into())
        .await
        .expect("an object");
    let attribute_of = |attribute| {
        games
            .attributes
            .get(&attribute)
            .map(|value| value.as_ref().to_owned())
    };
    assert_eq!(
        attribute_of(Attribute::ContentType).as_deref(),
        Some("application/vnd.chess-pgn; charset=utf-8")
    );
    assert_eq!(
        attribute_of(Attribute::CacheControl).as_deref(),
        Some("public, max-age=0, must-revalidate, s-maxage=3")
    );

    server.abort();
    assert!(server.await.is_err(), "it was stopped");
    std::fs::write(hall.path().join("round.csv"), pairings.replace("Dorn", "Duda")).expect("pairings");
    until("the correction on the disk", &hall, async || {
        hall.on_disk("round-3/games.pgn").contains("Duda")
    })
    .await;
    assert!(read("round-3/games.pgn").contains("Dorn"));
    let (_, _server) = serve(&folder, address, Arc::default()).await;
    until("the correction in the bucket", &hall, async || {
        read("round-3/games.pgn").contains("Duda")
    })
    .await;
    std::fs::remove_dir_all(folder.join("chess/2026")).expect("files");
    until("the lost files", &hall, async || {
        read("tournament.json").contains("rounds") && read("round-3/games.pgn").contains("Duda")
    })
    .await;
    let log = hall.log();
    assert!(!log.contains("<?xml") && !log.contains("<Error>"), "{log}");
    daemon.stop();
}
