mod brokers;
mod refusals;

use super::state::{Environment, SYSTEM};
use super::*;
use kiebitz_game::laws::{
    DrawnStart, Edition, IllegalMoveReport, Language, Mode, OpenPoints, Penalties1997, ReversedLimit, Rounds,
    Rules,
};
use kiebitz_hardware::Timestamp;

const EXAMPLE: &str = include_str!("../../systemd/kiebitz.toml");

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("kiebitz.toml"), text)
}

fn parsed(text: &str) -> Config {
    parse(text).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

/// Splits the example into blocks: a table each, with the lines up to the next table.
fn blocks() -> Vec<Vec<&'static str>> {
    let mut blocks = vec![Vec::new()];
    for line in EXAMPLE.lines() {
        if line.trim_start_matches('#').starts_with('[') {
            blocks.push(Vec::new());
        }
        blocks.last_mut().expect("a block").push(line);
    }
    blocks
}

/// Returns the text of a line that is commented out; `None` for other lines.
fn commented_out(line: &str) -> Option<&str> {
    line.strip_prefix('#')
        .filter(|text| !text.is_empty() && !text.starts_with(' '))
}

fn uncommented<'a>(lines: impl IntoIterator<Item = &'a &'a str>) -> String {
    let lines = lines.into_iter().map(|line| commented_out(line).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Clears the text of the configuration, so that only the values are compared.
fn meaning(config: Config) -> Config {
    Config {
        of_boards: String::new(),
        ..config
    }
}

/// A later replay needs the rules, but must not see passwords.
#[test]
fn the_part_about_boards_parses_on_its_own() {
    let text = "[mqtt]\nurl = \"mqtt://me:secret@localhost\"\n[event]\ntime_control = \"90+30\"\nrounds = \
                [2026-11-21T14:00:00+01:00]\n[[port]]\npath = \"/dev/ttyS0\"\nmode = \"bus\"\n[[board]]\nserial = \
                \"01025\"\nname = \"board-1\"\nlaws = \"fide-2014\"\npublic_delay = \"1 min\"\n";
    let whole = parsed(text);
    assert!(!whole.of_boards.contains("secret"), "{}", whole.of_boards);
    let part = parsed(&whole.of_boards);
    assert_eq!((&part.event, &part.boards), (&whole.event, &whole.boards));
    assert_eq!(part.of_boards, whole.of_boards);
    assert_eq!(part.mqtt, None);
}

#[test]
fn the_empty_file_and_the_example_equal_the_defaults() {
    assert_eq!(parsed(""), Config::default());
    assert_eq!(meaning(parsed(EXAMPLE)), Config::default());
}

/// A configured mode takes precedence, then the mode of the board's own time control, then that of the event's (2023:
/// A.1, B.1).
#[test]
fn the_mode_follows_from_the_time_control_unless_it_is_set() {
    let config = parsed(
        r#"
        [event]
        time_control = "15+10"
        no_draw_before_move = 20
        [[board]]
        serial = "1"
        name = "one"
        [[board]]
        serial = "2"
        name = "two"
        time_control = "3+2"
        no_draw_before_move = 40
        quickplay_finish = false
        [[board]]
        serial = "3"
        name = "three"
        mode = "standard"
        "#,
    );
    let rules_of = |name: &str| {
        let regulations = config.regulations(name);
        (
            regulations.rules.mode,
            regulations.mode_is_named,
            regulations.no_draw_before_move,
        )
    };
    assert_eq!(rules_of("one"), (Mode::Rapid, false, Some(20)));
    assert_eq!(rules_of("two"), (Mode::Blitz, false, Some(40)));
    assert_eq!(rules_of("three"), (Mode::Standard, true, Some(20)));
    assert_eq!(config.regulations("two").quickplay_finish, Some(false));
    let follows = config.regulations("two").mode_of_time();
    assert_eq!(follows, Some((Mode::Blitz, "B.1")));
    for limit in ["0", "1", "1000", "-3", "\"30\""] {
        let text = format!("[event]\nno_draw_before_move = {limit}\n");
        assert!(Config::parse("k.toml".as_ref(), &text).is_err(), "{limit}");
    }
}

/// A time control with two meanings is refused with both unambiguous spellings.
#[test]
fn a_value_without_quotes_is_refused_with_the_right_spelling() {
    for (line, right) in [
        ("default_time = 30", "expected text in quotes: \"30 min\""),
        ("default_time = \"30\"", "as in \"30 min\""),
        (
            "default_time = 30 min",
            "put the value in quotes: default_time = \"30 min\"",
        ),
        (
            "time_control = 90+30",
            "put the value in quotes: time_control = \"90+30\"",
        ),
        ("laws = 2023", "expected text in quotes"),
    ] {
        for text in [
            format!("[event]\n{line}\n"),
            format!("[[board]]\nname = \"b\"\nserial = \"01025\"\n{line}\n"),
        ] {
            let error = parse(&text).expect_err("refused").to_string();
            let number = text.lines().count();
            assert!(error.contains(&format!("kiebitz.toml:{number}: ")), "{error}");
            assert!(error.contains(right), "{error}");
            // The spelling of the message is accepted.
            if let Some((_, suggestion)) = right.split_once(": ") {
                let suggestion = match suggestion.contains('=') {
                    true => suggestion.to_owned(),
                    false => format!("default_time = {suggestion}"),
                };
                assert!(parse(&text.replace(line, &suggestion)).is_ok(), "{suggestion}");
            }
        }
    }
    let delay = parse("[mqtt]\nurl = \"mqtt://localhost\"\npublic_delay = 15\n").expect_err("refused");
    assert!(
        delay.to_string().contains("expected text in quotes: \"15 min\""),
        "{delay}"
    );
}

#[test]
fn an_ambiguous_time_control_is_refused_with_both_meanings() {
    let text = "[event]\ntime_control = \"40/90\"\n";
    let error = Config::parse("k.toml".as_ref(), text)
        .expect_err("ambiguous")
        .to_string();
    assert!(
        error.contains("write \"90 min/40 moves\" or \"1 min 30 s/40 moves\""),
        "{error}"
    );
}

#[test]
fn each_setting_of_the_example_shows_its_default() {
    let mut checked = 0;
    for block in blocks()
        .iter()
        .filter(|block| block.first().is_some_and(|line| line.starts_with('[')))
    {
        for key in block[1..].iter().filter_map(|line| commented_out(line)) {
            let config = parsed(&format!("{}\n{key}", block[0]));
            checked += 1;
            match key.split(' ').next().expect("a key") {
                "name" if block[0] == "[event]" => {
                    assert_eq!(config.event.event.as_deref(), Some("Club championship 2026"));
                }
                "site" => assert_eq!(config.event.site.as_deref(), Some("Bremen")),
                "tie_breaks" => assert_eq!(config.tie_breaks.expect("tie-breaks").len(), 5),
                "halls" => assert_eq!(config.halls.len(), 2),
                "hall" => assert_eq!(config.hall.as_deref(), Some("South")),
                "pairings" => assert_eq!(config.pairings.len(), 2),
                "rounds" => assert_ne!(config.event.rounds, Rounds::default()),
                "default_time" => assert_eq!(config.event.default_minutes(), Some(30)),
                "name" => assert_eq!(config.daemon.name.expect("a name").as_str(), "hall-2"),
                "state_directory" => assert_eq!(
                    config.state_directory_in(&Environment::default()),
                    Config::default().state_directory_in(&Environment::default())
                ),
                "time_control" => assert_eq!(
                    config.event.time_control.map(|control| control.to_string()),
                    Some("90+30".to_owned())
                ),
                "no_draw_before_move" => assert_eq!(config.event.no_draw_before_move, Some(30)),
                "quickplay_finish" => assert_eq!(config.event.quickplay_finish, Some(true)),
                "mode" => assert!(config.event.mode_is_named),
                "start" => assert_eq!(config.event.drawn_start, Some(DrawnStart::Standard)),
                "directory" => assert_eq!(config.recordings(), Path::new(SYSTEM).join("recordings")),
                _ => assert_eq!(meaning(config), Config::default(), "{key}"),
            }
        }
    }
    assert_eq!(
        checked, 34,
        "keys were added to or removed from the `[tables]` of systemd/kiebitz.toml: write their number here"
    );
}

#[test]
fn an_unknown_tie_break_is_refused_with_the_known_ones() {
    let error = |value: &str| {
        let text = format!("[event]\ntie_breaks = {value}\n");
        parse(&text).expect_err(value).to_string()
    };
    assert!(error("[\"bucholz\"]").contains("expected some of direct_encounter, wins"));
    assert!(error("[\"buchholz\", \"buchholz\"]").contains("\"buchholz\" is listed twice"));
    let config = parsed("[event]\ntie_breaks = [\"koya\", \"game_points\"]\n");
    assert_eq!(
        config.event_facts().tie_breaks,
        Some(vec![TieBreak::Koya, TieBreak::GamePoints])
    );
    assert_eq!(parsed("").tie_breaks, None);
}

#[test]
fn each_block_of_the_example_can_be_used() {
    let optional: Vec<_> = blocks()
        .into_iter()
        .filter(|block| block.first().is_some_and(|line| line.starts_with("#[")))
        .collect();
    assert_eq!(
        optional.len(),
        11,
        "`#[tables]` were added to or removed from systemd/kiebitz.toml: write their number here"
    );
    for block in &optional {
        assert_ne!(parsed(&uncommented(block)), Config::default());
    }
    let all = parsed(&uncommented(&EXAMPLE.lines().collect::<Vec<_>>()));
    let broker = MqttConfig::from_url("mqtt://localhost").expect("a URL");
    let broker = broker
        .with_user("club")
        .with_password_file(Path::new("/etc/kiebitz/mqtt-password"));
    assert_eq!(all.mqtt, Some(broker.with_daemon("hall-2")));
    assert_eq!(all.ports.listed.len(), 1);
    assert_eq!(all.ports.listed[0].mode, PortMode::Auto);
    assert_eq!(
        all.board_name(["01025"], "/dev/ttyACM0").as_deref(),
        Some("board-1")
    );
    assert_eq!(
        all.board_name(["01026"], "/dev/rfcomm0").as_deref(),
        Some("board-2")
    );
    let modes = ["board-1", "board-2", "board-3"].map(|name| all.regulations(name).rules.mode);
    assert_eq!(modes, [Mode::Rapid, Mode::Standard, Mode::Standard]);
    let delays = ["board-1", "board-2", "board-3"].map(|name| all.public_delay(name).as_secs());
    assert_eq!(delays, [1800, 0, 0]);
}

#[test]
fn all_settings_parse() {
    let config = parsed(
        r#"
        [daemon]
        name = "pi-1"
        state_directory = "/srv/kiebitz"
        log = "warn,kiebitz=trace"
        [mqtt]
        url = "mqtt://club:secret@broker.example:1884"
        prefix = "club/kiebitz"
        [journal]
        keep_days = 30
        [recorder]
        enabled = false
        directory = "/srv/recordings"
        budget = "500MiB"
        [ports]
        usb = false
        usb_ids = ["0403:6015", "10c4:ea60"]
        ignore = ["/dev/ttyS3", "usb-gps-if00-port0", "1546:01a8"]
        [clock_messages]
        enabled = true
        show = ["white_side"]
        [[port]]
        path = "/dev/ttyS0"
        mode = "bus"
        [[port]]
        path = "/dev/ttyS1"
        mode = "single"
        [[board]]
        port = "/dev/ttyS1"
        name = "tisch-2"
        "#,
    );
    let broker = MqttConfig::from_url("mqtt://club:secret@broker.example:1884").expect("a URL");
    let prefix = "club/kiebitz".parse().expect("a prefix");
    assert_eq!(config.mqtt, Some(broker.with_prefix(prefix).with_daemon("pi-1")));
    assert_eq!(config.daemon.log.to_string(), "kiebitz=trace,warn");
    assert_eq!(config.journal_file(), Path::new("/srv/kiebitz/journal.sqlite"));
    assert_eq!(config.recordings(), Path::new("/srv/recordings"));
    assert_eq!(
        (config.recorder.enabled, config.recorder.budget),
        (false, 524_288_000)
    );
    assert_eq!(config.journal.keep_days, 30);
    let ids: Vec<String> = config.ports.usb_ids.iter().map(ToString::to_string).collect();
    assert_eq!(
        (config.ports.usb, ids),
        (false, vec!["0403:6015".into(), "10c4:ea60".into()])
    );
    let ignored = |path: &str| Ignored::Path(path.into());
    let id = "1546:01a8".parse().expect("a USB id");
    assert_eq!(
        config.ports.ignore,
        [
            ignored("/dev/ttyS3"),
            ignored("usb-gps-if00-port0"),
            Ignored::Usb(id)
        ]
    );
    let modes: Vec<PortMode> = config.ports.listed.iter().map(|port| port.mode).collect();
    assert_eq!(modes, [PortMode::Bus, PortMode::Single]);
    assert_eq!(config.clock_messages.show, [ClockText::WhiteSide]);
    assert!(config.clock_messages.enabled);
}

#[test]
fn boards_inherit_the_rules_of_the_event() {
    let config = parsed(
        r#"
        [event]
        laws = "fide-1997"
        mode = "rapid"
        supervised = false
        time_control = "2 h/40 + 1 h"
        start = "bbqnnrkr"
        language = "de"
        name = "Landesliga Süd"
        site = "Ulm"
        rounds = [2026-11-21T14:00:00+01:00, "2026-11-22T08:00:00Z"]
        default_time = "30 min"
        [event.points]
        blitz_2023_minutes = 2
        penalties_1997 = "always"
        illegal_move_told = "completed"
        standing_move_counts = true
        reversed_limit = "either"
        reinstated_counts = true
        [[board]]
        serial = "1"
        name = "one"
        [[board]]
        serial = "2"
        name = "two"
        laws = "fide-2023"
        time_control = "3+2"
        supervised = true
        start = "standard"
        language = "en"
        rounds = [2026-11-21 15:00:00Z]
        default_time = "1 h"
        [board.points]
        blitz_2023_minutes = 1
        "#,
    );
    let points = OpenPoints {
        blitz_2023_minutes: 2,
        penalties_1997: Penalties1997::Always,
        illegal_move_told: IllegalMoveReport::Completed,
        standing_move_counts: true,
        reversed_limit: ReversedLimit::Either,
        reinstated_counts: true,
    };
    let rules = Rules {
        edition: Edition::Fide1997,
        mode: Mode::Rapid,
        supervised: false,
        points,
    };
    assert_eq!(config.event.rules, rules);
    assert_eq!(config.event.language, Language::German);
    assert_eq!(config.regulations("one"), &config.event);
    assert_eq!(config.regulations("no such board"), &config.event);
    let two = config.regulations("two");
    let changed = Rules {
        edition: Edition::Fide2023,
        // The mode follows from the board's own time control.
        mode: Mode::Blitz,
        supervised: true,
        points: OpenPoints {
            blitz_2023_minutes: 1,
            ..points
        },
    };
    assert_eq!((two.rules, two.language), (changed, Language::English));
    assert_eq!(two.drawn_start, Some(DrawnStart::Standard));
    assert_eq!(two.time_control_text().as_deref(), Some("180+2"));
    let round = |hours: i64| Timestamp::from_micros((1_795_219_200 + hours * 3600) * 1_000_000);
    assert_eq!(config.event.rounds, Rounds::planned([round(13), round(32)]));
    assert_eq!(two.rounds, Rounds::planned([round(15)]));
    let minutes = [&config.event, two].map(Regulations::default_minutes);
    assert_eq!(minutes, [Some(30), Some(60)]);
    for regulations in [&config.event, two] {
        assert_eq!(regulations.event.as_deref(), Some("Landesliga Süd"));
        assert_eq!(regulations.site.as_deref(), Some("Ulm"));
    }
}

/// Characters that change the direction of writing would reach beyond the name on a page.
#[test]
fn names_of_the_event_lose_invisible_characters() {
    let config = parsed("[event]\nname = \"Open \\u202e6202\"\nsite = \"\\u2066Ulm\\u200b\"\n");
    assert_eq!(config.event.event.as_deref(), Some("Open 6202"));
    assert_eq!(config.event.site.as_deref(), Some("Ulm"));
    assert!(parse("[event]\nname = \"\\u202e\"\n").is_err());
}

#[test]
fn boards_inherit_the_public_delay() {
    let boards = "[[board]]\nserial = \"1\"\nname = \"one\"\npublic_delay = \"2 h\"\n\
                  [[board]]\nserial = \"2\"\nname = \"two\"\npublic_delay = \"0 s\"\n\
                  [[board]]\nserial = \"3\"\nname = \"three\"\n";
    let config = parsed(&format!(
        "[mqtt]\nurl = \"mqtt://localhost\"\npublic_delay = \"1 min 30 s\"\n{boards}"
    ));
    let delays = ["one", "two", "three", "another"].map(|name| config.public_delay(name).as_secs());
    assert_eq!(delays, [7200, 0, 90, 90]);
    assert_eq!(parsed(boards).public_delay("three"), Duration::ZERO);
}

/// Environment of a user with this home and this `$XDG_STATE_HOME`, unless that is empty.
fn ordinary_user(home: &str, state_home: &str) -> Environment {
    Environment {
        is_ordinary_user: true,
        state_home: (!state_home.is_empty()).then(|| state_home.into()),
        home: Some(home.into()),
        ..Environment::default()
    }
}

#[test]
fn state_directory_comes_from_configuration_then_systemd_then_user() {
    let configured = parsed("[daemon]\nstate_directory = \"/srv/k\"");
    let default = Config::default();
    let user = ordinary_user("/home/ada", "");
    let systemd = |directory: &str| Environment {
        systemd: Some(directory.into()),
        ..user.clone()
    };
    let directories = [
        (&configured, systemd("/run/state"), "/srv/k"),
        (&configured, user.clone(), "/srv/k"),
        (&default, systemd("/run/state"), "/run/state"),
        (&default, systemd(""), "/home/ada/.local/state/kiebitz"),
        (&default, user.clone(), "/home/ada/.local/state/kiebitz"),
        (
            &default,
            ordinary_user("/home/ada", "/var/ada"),
            "/var/ada/kiebitz",
        ),
        // The specification requires that paths that are not absolute are ignored.
        (
            &default,
            ordinary_user("/home/ada", "state"),
            "/home/ada/.local/state/kiebitz",
        ),
        (&default, ordinary_user("", ""), SYSTEM),
        (&default, ordinary_user("/var/lib/kiebitz", ""), SYSTEM),
        (&default, Environment::default(), SYSTEM),
    ];
    for (config, environment, expected) in directories {
        let directory = config.state_directory_in(&environment);
        assert_eq!(directory, Path::new(expected), "{environment:?}");
    }
    // Root has a home as well.
    let root = Environment {
        is_ordinary_user: false,
        ..ordinary_user("/root", "/root/state")
    };
    assert_eq!(default.state_directory_in(&root), Path::new(SYSTEM));
}

#[test]
fn reading_commands_use_the_directory_with_a_journal() {
    let own = "/home/ada/.local/state/kiebitz";
    let read = |config: &Config, journals: &[&str]| {
        let has_journal = |directory: &Path| journals.iter().any(|known| directory == Path::new(known));
        config.state_directory_to_read(&ordinary_user("/home/ada", ""), has_journal)
    };
    let default = Config::default();
    assert_eq!(read(&default, &[own, SYSTEM]), Path::new(own));
    assert_eq!(read(&default, &[own]), Path::new(own));
    assert_eq!(read(&default, &[SYSTEM]), Path::new(SYSTEM));
    assert_eq!(read(&default, &[]), Path::new(own));
    let configured = parsed("[daemon]\nstate_directory = \"/srv/k\"");
    assert_eq!(read(&configured, &[own, SYSTEM]), Path::new("/srv/k"));
}

#[test]
fn name_by_serial_number_precedes_name_by_port() {
    let config =
        parsed("[[board]]\nport = \"/dev/ttyS1\"\nname = \"a\"\n[[board]]\nserial = \"7\"\nname = \"b\"\n");
    assert_eq!(
        config.board_name(["0000000007"], "/dev/ttyS1").as_deref(),
        Some("b")
    );
    assert_eq!(config.board_name(["8"], "/dev/ttyS1").as_deref(), Some("a"));
    assert_eq!(
        config.board_name(["no number"], "/dev/ttyS1").as_deref(),
        Some("a")
    );
    assert_eq!(config.board_name(["8", "7"], "/dev/ttyS1").as_deref(), Some("b"));
    assert_eq!(config.board_name([], "/dev/ttyS2").as_deref(), None);
}

#[test]
fn a_missing_file_is_named_in_the_error() {
    let error = Config::read(Path::new("/nowhere/kiebitz.toml")).expect_err("no such file");
    assert_eq!(
        error.to_string(),
        "cannot read the configuration /nowhere/kiebitz.toml"
    );
}

#[test]
fn any_part_of_a_file_parses_or_is_refused_with_its_line() {
    let whole = uncommented(&EXAMPLE.lines().collect::<Vec<_>>());
    let mut refused = 0;
    for end in 0..=whole.len() {
        for begin in [0, end / 2] {
            let Some(part) = whole.get(begin..end) else {
                continue;
            };
            let Err(error) = parse(part) else { continue };
            let text = error.to_string();
            let line = text.split(':').nth(1).and_then(|line| line.parse().ok());
            let lines = part.lines().count().max(1) + 1;
            assert!(line.is_some_and(|line| (1..=lines).contains(&line)), "{text}");
            refused += 1;
        }
    }
    assert!(refused > 100);
}
