use kiebitz_game::events::EventKind;
use kiebitz_game::events::samples::event;
use kiebitz_hardware::Timestamp;
use tempfile::TempDir;

use super::super::journal_writer::{JournalWriterThread, Work};
use super::super::lock::StateLock;
use super::*;
use crate::system_time::LiveTime;

/// A gate whose journal stores nothing until [`World::open`].
struct World<H> {
    directory: TempDir,
    gate: Gate,
    drain: H,
    storage: Storage,
}

fn world() -> World<impl FnMut() -> Vec<String>> {
    let directory = tempfile::tempdir().expect("a directory");
    let storage = Storage::default();
    let numbers = SeqNotes::start(directory.path().join("numbers"), None, 0).expect("a thread");
    let journal_writer = JournalWriter::start(JournalWriterThread {
        run: None,
        path: directory.path().join("journal.sqlite"),
        inputs: directory.path().join("inputs.jsonl"),
        numbers: numbers.clone(),
        outbox: None,
        keep: Duration::from_secs(86_400),
        time: LiveTime::start(),
        storage: storage.clone(),
        lock: Arc::new(StateLock::none(directory.path())),
        work: Work::default(),
    });
    let (outlet, drain) = Outlet::for_test();
    let outputs = GateOutputs {
        outbox: None,
        outlet: Some(outlet),
    };
    World {
        gate: Gate::new(
            journal_writer.expect("a thread"),
            numbers,
            outputs,
            storage.clone(),
        ),
        directory,
        drain,
        storage,
    }
}

fn at(ms: u64) -> Now {
    Now {
        time: Timestamp::from_micros(1_789_000_000_000_000) + Duration::from_millis(ms),
        moment: Moment::after(Duration::from_millis(ms)),
    }
}

fn sample(seq: u64) -> Event {
    event(seq, EventKind::ClockConnected {})
}

fn answer() -> (Leaving, oneshot::Receiver<RequestOutcome>) {
    let (sender, receiver) = oneshot::channel();
    let answer = Answer {
        id: Some("1".to_owned()),
        ok: true,
        note: None,
        error: None,
        standing: None,
        kept: true,
    };
    (Leaving::Answer(Asker::Hall(sender), answer), receiver)
}

/// The `kept` of an answer; `None` if no answer has come.
fn kept(receiver: &mut oneshot::Receiver<RequestOutcome>) -> Option<bool> {
    let answer = receiver.try_recv().ok()?.expect("an answer");
    assert_eq!(answer.note.as_deref(), (!answer.kept).then_some(Answer::UNKEPT));
    Some(answer.kept)
}

impl<H: FnMut() -> Vec<String>> World<H> {
    /// Holds events together with their input for the outputs; without events, a tick.
    fn hold(&mut self, ms: u64, seqs: impl IntoIterator<Item = u64>) {
        let events: Vec<Event> = seqs.into_iter().map(sample).collect();
        let news = HeldInput::of(at(ms).time, &events);
        self.gate.hold(at(ms), events, vec![Leaving::News(news)]);
    }

    /// Holds an answer together with the events of these seqs.
    fn answer(&mut self, ms: u64, seqs: impl IntoIterator<Item = u64>) -> oneshot::Receiver<RequestOutcome> {
        let (answer, receiver) = answer();
        let events = seqs.into_iter().map(sample).collect();
        self.gate.hold(at(ms), events, vec![answer]);
        receiver
    }

    /// Opens the journal and the file of seqs, as when the disk answers.
    fn open(&self) {
        let journal = Journal::open(&self.file()).expect("a journal");
        let numbers = SeqFile::open(&self.directory.path().join("numbers"), "boot").expect("a file");
        self.gate.open(Some(journal), Some(numbers));
    }

    async fn until_kept(&self, number: u64) {
        let mut kept = self.gate.kept();
        kept.wait_for(|kept| *kept >= number).await.expect("a thread");
    }

    fn file(&self) -> std::path::PathBuf {
        self.directory.path().join("journal.sqlite")
    }

    fn stored(&self) -> usize {
        let journal = Journal::open_to_read(&self.file()).expect("a journal");
        let events = journal.events_after("live", "b", 0, usize::MAX >> 1);
        events.expect("a disk").len()
    }
}

#[tokio::test]
async fn everything_leaves_in_order_once_the_journal_has_it() {
    let mut world = world();
    world.hold(0, []);
    assert_eq!((world.drain)(), ["tick"], "nothing waits");
    world.hold(0, [1]);
    world.hold(1, []);
    let mut receiver = world.answer(2, [2]);
    let mut question = world.answer(3, []);
    world.hold(4, [3]);
    world.gate.settle(at(1499));
    assert_eq!((world.drain)(), [""; 0]);
    assert_eq!((kept(&mut receiver), kept(&mut question)), (None, None));
    world.open();
    world.until_kept(3).await;
    world.gate.settle(at(1499));
    assert_eq!((world.drain)(), ["1", "tick", "3"]);
    assert_eq!(
        (kept(&mut receiver), kept(&mut question)),
        (Some(true), Some(true))
    );
    assert_eq!(world.stored(), 3);
    assert!(world.gate.is_empty());
}

#[tokio::test]
async fn after_the_grace_period_everything_leaves_marked_as_not_kept() {
    let mut world = world();
    world.hold(0, [1]);
    let mut receiver = world.answer(100, [2]);
    assert_eq!(world.gate.poll_deadline(), Some(at(1500).moment));
    world.gate.settle(at(1499));
    assert_eq!((world.drain)(), [""; 0]);
    world.gate.settle(at(1500));
    assert_eq!(
        world.storage.state().journal.problem.as_deref(),
        Some("the disk does not answer")
    );
    // The disk does not record the seqs either.
    assert_eq!(world.gate.poll_deadline(), Some(at(2500).moment));
    world.gate.settle(at(2500));
    assert_eq!((world.drain)(), ["kept false", "1"]);
    assert_eq!(kept(&mut receiver), Some(false));
    // From now on, events no longer wait.
    world.hold(2600, [3]);
    world.hold(2601, []);
    assert_eq!((world.drain)(), ["kept false", "3", "tick"]);
    let mut repeated = world.answer(2602, []);
    assert_eq!(kept(&mut repeated), Some(false), "what it answers is not kept");
    assert_eq!(world.gate.poll_deadline(), None);
    world.open();
    world.until_kept(3).await;
    world.gate.settle(at(3000));
    assert_eq!((world.drain)(), ["kept true"]);
    assert!(world.storage.state().journal.ok);
    let mut later = world.answer(3001, []);
    assert_eq!(kept(&mut later), Some(true));
    assert_eq!(world.stored(), 3);
}

#[tokio::test]
async fn batches_leave_as_soon_as_the_disk_has_noted_their_seqs() {
    let mut world = world();
    let numbers = SeqFile::open(&world.directory.path().join("numbers"), "boot").expect("a file");
    // The journal cannot be created, as a directory has its name.
    std::fs::create_dir(world.file()).expect("a directory");
    world.gate.open(None, Some(numbers));
    world.hold(0, [1]);
    world.gate.settle(at(1500));
    world
        .gate
        .noted()
        .wait_for(|noted| *noted)
        .await
        .expect("a thread");
    world.gate.settle(at(1501));
    assert_eq!((world.drain)(), ["kept false", "1"]);
    assert!(world.storage.state().journal.problem.is_some());
}

#[tokio::test]
async fn events_beyond_the_limit_leave_at_once_and_are_never_kept() {
    let mut world = world();
    world.hold(0, 1..=MAX_WAITING as u64);
    let mut receiver = world.answer(1, [MAX_WAITING as u64 + 1]);
    assert_eq!(kept(&mut receiver), Some(false));
    let inputs = (world.drain)();
    assert_eq!(
        (inputs.len(), &*inputs[0], &*inputs[1]),
        (MAX_WAITING + 2, "kept false", "1")
    );
    assert_eq!(world.storage.state().journal.lost, 1);
}

#[test]
fn a_step_of_the_clock_does_not_open_the_gate() {
    let mut world = world();
    world.hold(0, [1]);
    let day = Duration::from_secs(86_400);
    let stepped = Now {
        time: at(1).time + day,
        ..at(1)
    };
    world.gate.settle(stepped);
    assert_eq!((world.drain)(), [""; 0]);
    assert_eq!(world.gate.poll_deadline(), Some(at(1500).moment));
}

#[tokio::test]
async fn at_the_end_everything_leaves() {
    let mut world = world();
    world.hold(0, [1]);
    let mut receiver = world.answer(1, []);
    let World { gate, mut drain, .. } = world;
    gate.finish(at(2), Duration::from_millis(40)).await;
    assert_eq!(drain(), ["kept false", "1"]);
    assert_eq!(kept(&mut receiver), Some(false));
}
