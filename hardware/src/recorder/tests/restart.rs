//! Tests of files that are continued after a restart or a power cut.

use proptest::prelude::*;

use super::*;

#[test]
fn a_restart_continues_the_file_of_the_day() {
    let folder = tempfile::tempdir().unwrap();
    for byte in 1..=3 {
        let mut recorder = recorder(&folder);
        recorder.single(after(byte.into()), chunk(&[byte]));
    }
    assert_eq!(
        contents(&folder, "2026-11-21-ttyUSB0.pcapng"),
        [chunk(&[1]), chunk(&[2]), chunk(&[3])]
    );
    let file = File::open(folder.path().join("2026-11-21-ttyUSB0.pcapng")).unwrap();
    let mut reader = CaptureReader::new(file).unwrap();
    while reader.next_packet().unwrap().is_some() {}
    assert_eq!(reader.interfaces().len(), 1);
}

#[test]
fn a_truncated_file_is_continued_after_its_last_complete_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("2026-11-21-ttyUSB0.pcapng");
    let mut first = recorder(&folder);
    first.single(NOON, chunk(&[1]));
    let first_length = fs::metadata(&path).unwrap().len() as usize;
    first.single(NOON, chunk(&[2]));
    drop(first);
    let original = fs::read(&path).unwrap();

    let second = "2026-11-21-ttyUSB0+2.pcapng";
    for length in 0..original.len() {
        // Some file systems truncate a file at a power cut, others fill it up with zeros.
        for zeros in [0, 64] {
            let mut damaged = original[..length].to_vec();
            damaged.resize(length + zeros, 0);
            fs::write(&path, &damaged).unwrap();
            let mut recorder = recorder(&folder);
            recorder.single(NOON, chunk(&[3]));
            // A truncated block that ends in zeros may be complete again.
            let pairs = damaged.iter().zip(&original);
            let intact = pairs
                .take_while(|(damaged, original)| damaged == original)
                .count();
            let kept = [(first_length, 1), (original.len(), 2)].into_iter();
            let kept = kept.filter(|(end, _)| intact >= *end).map(|(_, byte)| byte);
            let expected: Vec<_> = kept.chain([3]).map(|byte| chunk(&[byte])).collect();
            // A file with zeros in its first words is not a capture.
            let not_a_capture = zeros > 0 && length < 12;
            let name = if not_a_capture {
                second
            } else {
                "2026-11-21-ttyUSB0.pcapng"
            };
            assert_eq!(contents(&folder, name), expected, "{length} {zeros}");
            assert_eq!(fs::exists(folder.path().join(second)).unwrap(), not_a_capture);
            let _ = fs::remove_file(folder.path().join(second));
        }
    }
}

#[test]
fn a_second_file_is_started_if_the_first_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("2026-11-21-ttyUSB0.pcapng");
    let mut first = recorder(&folder);
    for byte in 1..=3 {
        first.single(NOON, chunk(&[byte]));
    }
    drop(first);
    let mut damaged = fs::read(&path).unwrap();
    let middle = damaged.len() - 2 * 48 + 4; // the length of the block before the last
    damaged[middle] ^= 0xff;
    fs::write(&path, &damaged).unwrap();

    for byte in 4..=5 {
        let mut recorder = recorder(&folder);
        recorder.single(NOON, chunk(&[byte]));
        assert_eq!(recorder.reports(), [""; 0]);
    }
    assert_eq!(fs::read(&path).unwrap(), damaged);
    assert_eq!(
        contents(&folder, "2026-11-21-ttyUSB0+2.pcapng"),
        [chunk(&[4]), chunk(&[5])]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn recordings_are_complete_across_restarts(
        steps in prop::collection::vec((0..3u8, 0..4u32, prop::collection::vec(any::<u8>(), 1..20), any::<bool>()), 1..40)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = recorder(&folder);
        let mut expected: HashMap<String, Vec<Content>> = HashMap::new();
        for (port, day, bytes, restart) in steps {
            if restart {
                recorder = recorder_with(folder.path(), 1 << 30);
            }
            let port = format!("pts-{port}");
            let now = NOON + DAY * day;
            recorder.record(now, &port, LineMode::Single, &chunk(&bytes));
            let file = format!("2026-11-{}-{port}.pcapng", 21 + day);
            expected.entry(file).or_default().push(chunk(&bytes));
        }
        prop_assert_eq!(files(folder.path()).len(), expected.len());
        for (file, chunks) in expected {
            prop_assert_eq!(contents(&folder, &file), chunks);
        }
    }
}
