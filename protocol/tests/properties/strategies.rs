use kiebitz_protocol::*;
use proptest::array::{uniform6, uniform9};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// A message that owns its data, because a strategy cannot return borrowed data.
#[derive(Debug, Clone)]
pub(crate) enum Owned {
    Whole(Message<'static>),
    EeMoves(Vec<u8>),
    Trademark(String),
    Unknown(u8, Vec<u8>),
}

impl Owned {
    pub(crate) fn message(&self) -> Message<'_> {
        match self {
            Self::Whole(message) => *message,
            Self::EeMoves(data) => Message::EeMoves(data),
            Self::Trademark(text) => Message::Trademark(text),
            Self::Unknown(id, data) => Message::Unknown { id: *id, data },
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.message().encode(&mut bytes);
        bytes
    }
}

pub(crate) fn message() -> impl Strategy<Value = Owned> {
    prop_oneof![
        dump().prop_map(Message::BoardDump).prop_map(Owned::Whole),
        clock_times().prop_map(Message::ClockTimes).prop_map(Owned::Whole),
        any::<[u8; 4]>().prop_map(|bytes| Owned::Whole(Message::ClockAck(ClockAck::new(bytes)))),
        Just(Owned::Whole(Message::ClockAbsent(ClockAbsent::default()))),
        field_update()
            .prop_map(Message::FieldUpdate)
            .prop_map(Owned::Whole),
        vec(data_byte(), 0..300).prop_map(|elements| Owned::EeMoves([elements, vec![0x6b]].concat())),
        address().prop_map(Message::BusAddress).prop_map(Owned::Whole),
        serial().prop_map(Message::SerialNumber).prop_map(Owned::Whole),
        serial()
            .prop_map(Message::LongSerialNumber)
            .prop_map(Owned::Whole),
        "[\\x00-\\x7f]{0,100}".prop_map(Owned::Trademark),
        (data_byte(), data_byte()).prop_map(|(major, minor)| Owned::Whole(Message::Version { major, minor })),
        battery().prop_map(Message::BatteryStatus).prop_map(Owned::Whole),
        (unknown_id(), vec(data_byte(), 0..100)).prop_map(|(id, data)| Owned::Unknown(id, data)),
    ]
}

fn serial<const N: usize>() -> impl Strategy<Value = Serial<N>> {
    vec(b' '..=b'~', N).prop_filter_map("no serial number", |text| Serial::new(text.try_into().ok()?))
}

/// Generates ids without a documented message in single-board mode.
fn unknown_id() -> impl Strategy<Value = u8> {
    let known = [0x86, 0x8d, 0x8e, 0x8f, 0x90, 0x91, 0x92, 0x93, 0xa0, 0xa2];
    (0x80..=0xff_u8).prop_filter("a known id", move |id| !known.contains(id))
}

pub(crate) fn data_byte() -> impl Strategy<Value = u8> {
    0..0x80_u8
}

pub(crate) fn field() -> impl Strategy<Value = Field> {
    select(Field::all().collect::<Vec<_>>())
}

pub(crate) fn contents() -> impl Strategy<Value = Contents> {
    option::of(select(&Piece::ALL[..]))
}

pub(crate) fn dump() -> impl Strategy<Value = Dump> {
    vec(contents(), Field::COUNT).prop_map(|contents| std::array::from_fn(|i| contents[i]))
}

fn field_update() -> impl Strategy<Value = FieldUpdate> {
    (field(), contents(), 0..16_u8).prop_map(|(field, contents, flags)| FieldUpdate {
        field,
        contents,
        flags,
    })
}

fn side_time() -> impl Strategy<Value = SideTime> {
    (0..10_u8, 0..60_u8, 0..60_u8, any::<[bool; 3]>()).prop_map(|(hours, minutes, seconds, flags)| {
        let [flag_fallen, per_move_indicator, flag_shown] = flags;
        SideTime {
            hours,
            minutes,
            seconds,
            flag_fallen,
            per_move_indicator,
            flag_shown,
        }
    })
}

pub(crate) fn clock_times() -> impl Strategy<Value = ClockTimes> {
    (side_time(), side_time(), any::<[bool; 5]>()).prop_map(|(right, left, status)| {
        let [running, lever_right_high, battery_low, rights_turn, lefts_turn] = status;
        ClockTimes {
            right,
            left,
            running,
            lever_right_high,
            battery_low,
            rights_turn,
            lefts_turn,
        }
    })
}

fn battery() -> impl Strategy<Value = BatteryStatus> {
    (uniform9(data_byte()), 0..=101_u8).prop_map(|(bytes, percent)| {
        let [
            _,
            left_hours,
            left_minutes,
            on_hours,
            on_minutes,
            standby_days,
            standby_hours,
            standby_minutes,
            status,
        ] = bytes;
        BatteryStatus {
            percent: if percent > 100 {
                BatteryStatus::UNKNOWN
            } else {
                percent
            },
            left_hours,
            left_minutes,
            on_hours,
            on_minutes,
            standby_days,
            standby_hours,
            standby_minutes,
            status,
        }
    })
}

pub(crate) fn address() -> impl Strategy<Value = BusAddress> {
    (0..0x4000_u16).prop_filter_map("no address", BusAddress::new)
}

pub(crate) fn element() -> impl Strategy<Value = Element> {
    let single = [
        Element::PowerUp,
        Element::End,
        Element::FourRowsFilled,
        Element::EmptyBoard,
        Element::Downloaded,
        Element::StartPosition,
        Element::StartPositionTurned,
        Element::StartTag,
        Element::Watchdog,
        Element::Nothing,
    ];
    prop_oneof![
        (contents(), field(), any::<bool>()).prop_map(|(contents, field, quick)| Element::PieceChange {
            contents,
            field,
            quick
        }),
        (any::<bool>(), 0..10_u8, 0..60_u8, 0..60_u8).prop_map(|(left, hours, minutes, seconds)| {
            Element::ClockTime {
                left,
                hours,
                minutes,
                seconds,
            }
        }),
        select(single.to_vec()),
    ]
}

pub(crate) fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        select(&Command::SINGLE[..]),
        (data_byte(), field(), field()).prop_map(|(pattern, first, last)| Command::SetLeds {
            pattern,
            first,
            last
        }),
        clock_message().prop_map(Command::Clock),
    ]
}

fn clock_message() -> impl Strategy<Value = ClockMessage> {
    prop_oneof![
        (uniform6(data_byte()), data_byte(), any::<bool>())
            .prop_map(|(digits, marks, beep)| ClockMessage::Display(Segments { digits, marks, beep })),
        uniform6(data_byte()).prop_map(|[left, right, left_period, right_period, special, _]| {
            ClockMessage::Icons(Icons {
                left: SideIcons {
                    method: left,
                    period: left_period,
                },
                right: SideIcons {
                    method: right,
                    period: right_period,
                },
                special,
            })
        }),
        select(vec![
            ClockMessage::End,
            ClockMessage::Button,
            ClockMessage::Version
        ]),
        (set_time(), set_time(), any::<[bool; 4]>()).prop_map(|(left, right, mode)| {
            let [left_runs, right_runs, paused, lever_toggles] = mode;
            ClockMessage::SetAndRun(SetAndRun {
                left,
                right,
                left_runs,
                right_runs,
                paused,
                lever_toggles,
            })
        }),
        data_byte().prop_map(|duration| ClockMessage::Beep { duration }),
        ("\\PC{0,12}", any::<u8>()).prop_map(|(text, beep)| ClockMessage::Text(ClockText::new(&text, beep))),
    ]
}

fn set_time() -> impl Strategy<Value = SetTime> {
    (0..10_u8, 0..60_u8, 0..60_u8, any::<bool>()).prop_map(|(hours, minutes, seconds, counts_up)| SetTime {
        hours,
        minutes,
        seconds,
        counts_up,
    })
}

/// Splits `bytes` into portions at `cuts`.
pub(crate) fn cut<'b>(bytes: &'b [u8], cuts: &[proptest::sample::Index]) -> Vec<&'b [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut start = 0;
    ends.into_iter()
        .map(|end| {
            let portion = &bytes[start..end];
            start = end;
            portion
        })
        .collect()
}
