//! Argon2 hashes of passwords, computed in a fixed pool of memory and with a bounded queue.
//!
//! A run of Argon2 takes 19 MiB. If each run allocated its own memory, the allocator would retain it in the heaps of
//! different threads. The pool limits it, and returns it to the system when no request runs or waits.

use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, bail};
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::Source;

/// Maximum number of concurrent runs of Argon2, and size of the pool.
const AT_ONCE: usize = 2;
/// Capacity of the queue of requests that wait for a run.
const QUEUE: usize = 16;
/// Limits for the parameters of a hash in the file of users, in blocks of 1 KiB and in passes. `kiebitz user` uses 19 MiB
/// and two passes; RFC 9106 recommends 64 MiB and three passes if memory is short.
const MAX_BLOCKS: usize = 64 << 10;
const MAX_PASSES: u32 = 10;
/// Reserved address space of a run, in blocks of 1 KiB. glibc maps allocations of more than 32 MiB on their own, whatever
/// its settings, and returns them to the system when they are freed. Blocks that are not used take no memory.
const RESERVED: usize = 33 << 10;
/// Length of a salt, in bytes.
const SALT: usize = 16;

/// Memory for one run of Argon2 at a time. It is allocated by the first run.
#[derive(Default)]
pub(super) struct HashMemory(Vec<Block>);

impl HashMemory {
    /// Whether a password has this hash. Fails if the hash is damaged or too expensive.
    pub(super) fn is_right(&mut self, password: &str, hash: &str) -> Result<bool> {
        let hash = ParsedHash::parse(hash)?;
        let digest = self.digest(&hash.argon2, password, &hash.salt)?;
        // The comparison takes the same time wherever the first difference is.
        Ok(digest == hash.digest)
    }

    /// Hashes a password with a random salt.
    pub(super) fn hash(&mut self, password: &str) -> Result<String> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt).context("the system provides no random numbers")?;
        let argon2 = Argon2::default();
        let digest = self.digest(&argon2, password, &salt)?;
        let hash = PasswordHash {
            algorithm: Algorithm::default().ident(),
            version: Some(Version::default().into()),
            params: ParamsString::try_from(argon2.params()).map_err(unusable)?,
            salt: Some(Salt::new(&salt).map_err(unusable)?),
            hash: Some(digest),
        };
        Ok(hash.to_string())
    }

    fn digest(&mut self, argon2: &Argon2<'_>, password: &str, salt: &[u8]) -> Result<Output> {
        let blocks = argon2.params().block_count().max(self.0.len());
        let reserved = blocks.max(RESERVED) - self.0.len();
        self.0
            .try_reserve_exact(reserved)
            .context("there is not enough memory to check a password")?;
        self.0.resize(blocks, Block::default());
        let length = argon2.params().output_len();
        let mut digest = vec![0; length.unwrap_or(Params::DEFAULT_OUTPUT_LEN)];
        argon2
            .hash_password_into_with_memory(password.as_bytes(), salt, &mut digest, &mut self.0)
            .map_err(unusable)?;
        Output::new(&digest).map_err(unusable)
    }
}

struct ParsedHash {
    argon2: Argon2<'static>,
    salt: Vec<u8>,
    digest: Output,
}

impl ParsedHash {
    fn parse(text: &str) -> Result<Self> {
        let hash = PasswordHash::new(text).map_err(unusable)?;
        let params = Params::try_from(&hash).map_err(unusable)?;
        if params.block_count() > MAX_BLOCKS || params.t_cost() > MAX_PASSES {
            bail!(
                "a hash may need at most {} MiB and {MAX_PASSES} passes: use a line that `kiebitz user` prints",
                MAX_BLOCKS >> 10
            );
        }
        let algorithm = Algorithm::try_from(hash.algorithm.as_str()).map_err(unusable)?;
        let version = hash
            .version
            .map(Version::try_from)
            .transpose()
            .map_err(unusable)?;
        let (Some(salt), Some(digest)) = (hash.salt, hash.hash) else {
            bail!("the hash is not complete");
        };
        Ok(Self {
            argon2: Argon2::new(algorithm, version.unwrap_or_default(), params),
            salt: salt.to_vec(),
            digest,
        })
    }
}

/// Checks that a hash can be compared with a password.
pub(super) fn check_hash(hash: &str) -> Result<()> {
    ParsedHash::parse(hash).map(drop)
}

fn unusable(error: impl fmt::Display) -> anyhow::Error {
    anyhow!("the hash cannot be used: {error}")
}

/// The pool of memory, and the queue for it.
pub(super) struct PasswordChecks {
    free: Mutex<Vec<HashMemory>>,
    /// Permits for running and waiting requests together, of unknown clients and of known devices.
    slots: Semaphore,
    device_slots: Semaphore,
    runs: Arc<Semaphore>,
}

/// Reason why a password was not checked or hashed.
#[derive(Debug, Error)]
pub(super) enum Unchecked {
    #[error("too many passwords are being checked: try again in a moment")]
    Busy,
    #[error("the check of a password was interrupted")]
    Interrupted,
}

impl PasswordChecks {
    pub(super) fn new() -> Self {
        Self {
            free: Mutex::default(),
            slots: Semaphore::new(AT_ONCE + QUEUE),
            device_slots: Semaphore::new(AT_ONCE + QUEUE),
            runs: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Runs `work` on a blocking thread when memory is free. Fails at once if the queue is full; known devices have a
    /// queue of their own. A request whose client hangs up leaves the queue; if it already runs, it runs to its end.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        source: Source,
        work: impl FnOnce(&mut HashMemory) -> T + Send + 'static,
    ) -> Result<T, Unchecked> {
        let slots = match source {
            Source::Device(_) => &self.device_slots,
            Source::Network(_) => &self.slots,
        };
        let _slot = slots.try_acquire().map_err(|_| Unchecked::Busy)?;
        let mut run = self.begin().await?;
        let worked = tokio::task::spawn_blocking(move || {
            run.memory = run.pool.free().pop().unwrap_or_default();
            work(&mut run.memory)
        });
        worked.await.map_err(|_| Unchecked::Interrupted)
    }

    /// Waits until a run may begin, and takes its place for other work that needs as much memory. Returns the memory of one
    /// run to the system.
    pub(super) async fn instead(self: &Arc<Self>) -> Result<Run, Unchecked> {
        let run = self.begin().await?;
        self.free().pop();
        Ok(run)
    }

    async fn begin(self: &Arc<Self>) -> Result<Run, Unchecked> {
        let permit = Arc::clone(&self.runs).acquire_owned().await;
        Ok(Run {
            pool: Arc::clone(self),
            permit: Some(permit.map_err(|_| Unchecked::Interrupted)?),
            memory: HashMemory::default(),
        })
    }

    /// Makes all runs wait until the returned sender is dropped.
    #[cfg(test)]
    pub(super) fn pause(self: &Arc<Self>) -> std::sync::mpsc::Sender<()> {
        let (end, ends) = std::sync::mpsc::channel();
        let (locked, is_locked) = std::sync::mpsc::channel::<()>();
        let pool = Arc::clone(self);
        std::thread::spawn(move || {
            let _free = pool.free();
            drop(locked);
            let _ = ends.recv();
        });
        let _ = is_locked.recv();
        end
    }

    /// Number of runs in progress.
    #[cfg(test)]
    pub(super) fn running(&self) -> usize {
        AT_ONCE - self.runs.available_permits()
    }

    /// Number of unknown clients that wait for an answer.
    #[cfg(test)]
    pub(super) fn clients(&self) -> usize {
        AT_ONCE + QUEUE - self.slots.available_permits()
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<HashMemory>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the runs that may be in progress at the same time.
pub(super) struct Run {
    pool: Arc<PasswordChecks>,
    /// `None` while the run ends.
    permit: Option<OwnedSemaphorePermit>,
    memory: HashMemory,
}

impl Drop for Run {
    fn drop(&mut self) {
        let mut free = self.pool.free();
        free.push(core::mem::take(&mut self.memory));
        drop(self.permit.take());
        // A permit that is free again goes to a request that waits, so none does.
        if self.pool.runs.available_permits() == AT_ONCE {
            free.clear();
        }
    }
}

impl fmt::Debug for PasswordChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordChecks").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A hash from the reference implementation of Argon2: `echo -n password | argon2 somesalt -t 2 -k 65536 -p 1 -id`.
    const REFERENCE: &str =
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";

    #[test]
    fn memory_is_used_again_and_hashes_are_right() {
        let mut memory = HashMemory::default();
        let hash = memory.hash("rook-on-a1").expect("a hash");
        let (blocks, address) = (memory.0.len(), memory.0.as_ptr());
        assert_eq!(blocks, 19 << 10);
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        for (password, is_right) in [("rook-on-a1", true), ("rook-on-a2", false), ("", false)] {
            assert_eq!(
                memory.is_right(password, &hash).ok(),
                Some(is_right),
                "{password}"
            );
        }
        assert_ne!(memory.hash("rook-on-a1").ok(), Some(hash), "salted");
        assert_eq!((memory.0.len(), memory.0.as_ptr()), (blocks, address));
        assert_eq!(memory.is_right("password", REFERENCE).ok(), Some(true));
        assert_eq!(memory.is_right("Password", REFERENCE).ok(), Some(false));
    }

    #[test]
    fn damaged_and_expensive_hashes_are_refused() {
        let expensive = REFERENCE.replace("m=65536", "m=4000000000");
        let slow = REFERENCE.replace("t=2", "t=4000000000");
        for hash in [
            "",
            "-",
            "$argon2id$half",
            "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ",
            "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
            &expensive,
            &slow,
        ] {
            assert!(check_hash(hash).is_err(), "{hash}");
            assert!(
                HashMemory::default().is_right("password", hash).is_err(),
                "{hash}"
            );
        }
        assert!(check_hash(REFERENCE).is_ok());
    }

    /// Two requests run, the queue fills up, and all others are refused at once.
    #[tokio::test]
    async fn the_queue_is_bounded() {
        let checks = Arc::new(PasswordChecks::new());
        let source = Source::of_address([192, 0, 2, 1].into());
        let (started, starts) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let ends = Arc::new(Mutex::new(ends));
        let run = || {
            let (checks, started, ends) = (Arc::clone(&checks), started.clone(), Arc::clone(&ends));
            tokio::spawn(async move {
                let work = move |_: &mut HashMemory| {
                    let _ = started.send(());
                    ends.lock().is_ok_and(|ends| ends.recv().is_ok())
                };
                checks.run(source, work).await
            })
        };
        let accepted: Vec<_> = (0..AT_ONCE + QUEUE).map(|_| run()).collect();
        while checks.slots.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..QUEUE {
            let refused = run().await.expect("a task");
            assert!(matches!(refused, Err(Unchecked::Busy)));
        }
        let device = tokio::spawn({
            let checks = Arc::clone(&checks);
            async move { checks.run(Source::Device([0; 16]), |_| ()).await }
        });
        for _ in 0..AT_ONCE + QUEUE {
            end.send(()).expect("a request waits");
        }
        for request in accepted {
            assert!(matches!(request.await.expect("a task"), Ok(true)));
        }
        assert!(
            device.await.expect("a task").is_ok(),
            "a known device is not refused"
        );
        assert_eq!(starts.try_iter().count(), AT_ONCE + QUEUE);
        assert!(checks.free().is_empty(), "the memory is returned");
        assert!(checks.run(source, |_| ()).await.is_ok(), "there is room again");
    }

    #[tokio::test]
    async fn other_work_takes_the_place_of_a_run_and_of_its_memory() {
        let checks = Arc::new(PasswordChecks::new());
        checks.free().extend([
            HashMemory(Vec::with_capacity(1)),
            HashMemory(Vec::with_capacity(1)),
        ]);
        let work = checks.instead().await.expect("a run");
        assert_eq!((checks.running(), checks.free().len()), (1, 1));
        let source = Source::of_address([192, 0, 2, 1].into());
        let used = checks.run(source, |memory| memory.0.capacity()).await;
        assert_eq!(used.expect("a run"), 1, "the other memory is used again");
        assert_eq!(checks.free().len(), 1, "work is in progress");
        drop(work);
        assert_eq!((checks.running(), checks.free().len()), (0, 0));
    }
}
