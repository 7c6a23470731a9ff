//! Refused configurations, with their messages.

use std::path::Path;

use crate::config::Config;

/// Asserts that a configuration is refused with this message.
#[track_caller]
pub(super) fn assert_refused(text: &str, message: &str) {
    let error = Config::parse(Path::new("kiebitz.toml"), text).expect_err(text);
    assert_eq!(error.to_string(), message.trim_start_matches('\n'));
}

#[test]
fn invalid_toml_is_refused() {
    assert_refused(
        "[daemon\n",
        r#"
kiebitz.toml:1: unclosed table, expected `]`
  |
1 | [daemon
  |        ^"#,
    );
    assert_refused(
        "[recorder]\nbudget = \"2 GB\n",
        r#"
kiebitz.toml:2: invalid basic string, expected `"`
  |
2 | budget = "2 GB
  |               ^"#,
    );
    assert_refused(
        "[recorder]\nenabled = yes\n",
        r#"
kiebitz.toml:2: expected true, false, a number, or text in quotes
  |
2 | enabled = yes
  |           ^^^"#,
    );
    assert_refused(
        "[recorder]\nenabled = true\nenabled = false\n",
        r#"
kiebitz.toml:3: duplicate key
  |
3 | enabled
  | ^^^^^^^"#,
    );
    assert_refused(
        "[[board]]\nserial = 01025\n",
        r#"
kiebitz.toml:2: put the value in quotes: serial = "01025"
  |
2 | serial = 01025
  |          ^^^^^"#,
    );
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    assert_refused(
        "[recoder]\n",
        r#"
kiebitz.toml:1: unknown key `recoder`, did you mean `recorder`?
  |
1 | [recoder
  |  ^^^^^^^"#,
    );
    assert_refused(
        "\n[[port]]\npaht = \"/dev/ttyS0\"\n",
        r#"
kiebitz.toml:3: unknown key `paht`, did you mean `path`?
  |
3 | paht
  | ^^^^"#,
    );
    assert_refused(
        "[mqtt]\npassword = \"secret\"\n",
        r#"
kiebitz.toml:2: unknown key `password`; known keys: url, user, password_file, ca_file, client_certificate, client_key, protocol, prefix, public_delay, commands, home_assistant, hub
  |
2 | password
  | ^^^^^^^^"#,
    );
    assert_refused(
        "[ports]\nlisted = []\n",
        r#"
kiebitz.toml:2: unknown key `listed`; known keys: usb, usb_ids, ignore
  |
2 | listed
  | ^^^^^^"#,
    );
}

#[test]
fn values_of_a_wrong_type_are_refused() {
    assert_refused(
        "[ports]\nusb = \"yes\"\n",
        r#"
kiebitz.toml:2: expected true or false, without quotes
  |
2 | usb = "yes"
  |       ^^^^^"#,
    );
    assert_refused(
        "[[board]]\nname = \"a\"\nserial = 1025\n",
        r#"
kiebitz.toml:3: expected text in quotes: "1025"
  |
3 | serial = 1025
  |          ^^^^"#,
    );
    assert_refused(
        "[[port]]\npath = \"/dev/ttyS0\"\nmode = \"buss\"\n",
        r#"
kiebitz.toml:3: unknown value `buss`, did you mean `bus`?
  |
3 | mode = "buss"
  |        ^^^^^^"#,
    );
    assert_refused(
        "[clock_messages]\nshow = [\"name\", \"smiley\"]\n",
        r#"
kiebitz.toml:2: unknown value `smiley`; possible values: name, ok, white_side
  |
2 | show = ["name", "smiley"
  |                 ^^^^^^^^"#,
    );
    assert_refused(
        "[journal]\nkeep_days = -3\n",
        r#"
kiebitz.toml:2: expected a whole number, without quotes
  |
2 | keep_days = -3
  |             ^^"#,
    );
}

#[test]
fn missing_keys_are_named() {
    assert_refused(
        "[mqtt]\nprefix = \"club\"\n",
        r#"
kiebitz.toml:1: `url` is missing
  |
1 | [mqtt]
  | ^^^^^^"#,
    );
    assert_refused(
        "[[port]]\nmode = \"bus\"\n",
        r#"
kiebitz.toml:1: `path` is missing
  |
1 | [[port]]
  | ^^^^^^^^"#,
    );
    assert_refused(
        "[[board]]\nserial = \"01025\"\n",
        r#"
kiebitz.toml:1: `name` is missing
  |
1 | [[board]]
  | ^^^^^^^^^"#,
    );
    assert_refused(
        "[daemon]\n\n[[board]]\nname = \"board-1\"\n",
        r#"
kiebitz.toml:3: the board is not identified: `serial` or `port` is missing
  |
3 | [[board]]
  | ^^^^^^^^^"#,
    );
}

#[test]
fn invalid_names_paths_and_levels_are_refused() {
    assert_refused(
        "[daemon]\nname = \"hall 2\"\n",
        r#"
kiebitz.toml:2: the name "hall 2" contains ' ': names are part of MQTT topics and file names and must not contain spaces or + # / $
  |
2 | name = "hall 2"
  |        ^^^^^^^^"#,
    );
    assert_refused(
        "[daemon]\nstate_directory = \"kiebitz\"\n",
        r#"
kiebitz.toml:2: expected an absolute path, beginning with "/"
  |
2 | state_directory = "kiebitz"
  |                   ^^^^^^^^^"#,
    );
    assert_refused(
        "[daemon]\nlog = \"loud\"\n",
        r#"
kiebitz.toml:2: expected off, error, warn, info, debug or trace, or levels by module as in "info,kiebitz=debug"
  |
2 | log = "loud"
  |       ^^^^^^"#,
    );
    assert_refused(
        "[[board]]\nname = \"board/1\"\nserial = \"01025\"\n",
        r#"
kiebitz.toml:2: the name "board/1" contains '/': names are part of MQTT topics and file names and must not contain spaces or + # / $
  |
2 | name = "board/1"
  |        ^^^^^^^^^"#,
    );
    assert_refused(
        "[[port]]\npath = \"ttyUSB0\"\n",
        r#"
kiebitz.toml:2: expected an absolute path, beginning with "/"
  |
2 | path = "ttyUSB0"
  |        ^^^^^^^^^"#,
    );
}

#[test]
fn invalid_numbers_are_refused() {
    assert_refused(
        "[journal]\nkeep_days = 0\n",
        r#"
kiebitz.toml:2: expected at least 1 day
  |
2 | keep_days = 0
  |             ^"#,
    );
    assert_refused(
        "[recorder]\nbudget = \"plenty\"\n",
        r#"
kiebitz.toml:2: expected a size with a unit, as in "500 MB" or "2 GB"
  |
2 | budget = "plenty"
  |          ^^^^^^^^"#,
    );
    assert_refused(
        "[recorder]\nbudget = \"2\"\n",
        r#"
kiebitz.toml:2: recordings need at least "10 MB"
  |
2 | budget = "2"
  |          ^^^"#,
    );
    assert_refused(
        "[ports]\nusb_ids = [\"0403:6015\", \"403:6001\"]\n",
        r#"
kiebitz.toml:2: "403:6001" is not a USB id; expected twice four hexadecimal digits, as in "0403:6015"; `lsusb` lists them
  |
2 | usb_ids = ["0403:6015", "403:6001"
  |                         ^^^^^^^^^^"#,
    );
    assert_refused(
        "[ports]\nignore = [\"/dev/ttyS3\", \"403:6001\"]\n",
        r#"
kiebitz.toml:2: "403:6001" is not a USB id; expected twice four hexadecimal digits, as in "0403:6015"; `lsusb` lists them
  |
2 | ignore = ["/dev/ttyS3", "403:6001"
  |                         ^^^^^^^^^^"#,
    );
    assert_refused(
        "[ports]\nignore = [\"serial/ttyS3\"]\n",
        r#"
kiebitz.toml:2: "serial/ttyS3" is not a port; expected an absolute path as in "/dev/ttyS0", a name in /dev/serial/by-id, or a USB id as in "0403:6015"
  |
2 | ignore = ["serial/ttyS3"
  |           ^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[[board]]\nname = \"board-1\"\nserial = \"DGT01025\"\n",
        r#"
kiebitz.toml:3: a serial number has up to ten digits, as in "01025"; `kiebitz boards` shows it
  |
3 | serial = "DGT01025"
  |          ^^^^^^^^^^"#,
    );
}

#[test]
fn unknown_version_of_mqtt_is_refused() {
    assert_refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nprotocol = \"3.1\"\n",
        r#"
kiebitz.toml:3: expected "5" or "3.1.1"
  |
3 | protocol = "3.1"
  |            ^^^^^"#,
    );
}

#[test]
fn invalid_delays_are_refused() {
    for delay in ["15", "-1 min", "later", "1 month", "9999999999999999999 h"] {
        assert_refused(
            &format!("[mqtt]\nurl = \"mqtt://localhost\"\npublic_delay = \"{delay}\"\n"),
            &format!(
                "kiebitz.toml:3: expected a delay with a unit, as in \"15 min\" or \"90 s\"\n  |\n\
                 3 | public_delay = \"{delay}\"\n  |                {}",
                "^".repeat(delay.len() + 2)
            ),
        );
    }
    assert_refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\npublic_delay = 900\n",
        r#"
kiebitz.toml:3: expected text in quotes
  |
3 | public_delay = 900
  |                ^^^"#,
    );
    assert_refused(
        "[[board]]\nserial = \"1\"\nname = \"a\"\npublic_delay = \"15 h\"\n",
        r#"
kiebitz.toml:4: the delay can be at most "2 h"
  |
4 | public_delay = "15 h"
  |                ^^^^^^"#,
    );
}

#[test]
fn contradictions_are_refused() {
    assert_refused(
        "[ports]\nignore = [\"/dev/ttyS0\"]\n[[port]]\npath = \"/dev/ttyS0\"\n",
        r#"
kiebitz.toml:4: this port is also listed under `ignore`
  |
4 | path = "/dev/ttyS0"
  |        ^^^^^^^^^^^^"#,
    );
    let two = |a: &str, b: &str| format!("[[board]]\n{a}\n\n[[board]]\n{b}\n");
    assert_refused(
        &two(
            "name = \"a\"\nserial = \"01025\"",
            "name = \"a\"\nserial = \"01026\"",
        ),
        r#"
kiebitz.toml:6: the name "a" is already given in line 2
  |
6 | name = "a"
  |        ^^^"#,
    );
    assert_refused(
        &two(
            "name = \"a\"\nserial = \"01025\"",
            "name = \"b\"\nserial = \"0000001025\"",
        ),
        r#"
kiebitz.toml:7: this board already has a name in line 3
  |
7 | serial = "0000001025"
  |          ^^^^^^^^^^^^"#,
    );
    assert_refused(
        &two(
            "name = \"a\"\nport = \"/dev/rfcomm0\"",
            "name = \"b\"\nport = \"/dev/rfcomm0\"",
        ),
        r#"
kiebitz.toml:7: this board already has a name in line 3
  |
7 | port = "/dev/rfcomm0"
  |        ^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[[board]]\nname = \"a\"\nserial = \"01025\"\nport = \"/dev/rfcomm0\"\n",
        r#"
kiebitz.toml:4: give a board's `serial` or its `port`, not both
  |
4 | port = "/dev/rfcomm0"
  |        ^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[[port]]\npath = \"/dev/ttyS0\"\n[[port]]\npath = \"/dev/ttyS0\"\nmode = \"bus\"\n",
        r#"
kiebitz.toml:4: this port is already listed in line 2
  |
4 | path = "/dev/ttyS0"
  |        ^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[[port]]\npath = \"/dev/ttyS0\"\nmode = \"bus\"\n[[board]]\nport = \"/dev/ttyS0\"\nname = \"a\"\n",
        r#"
kiebitz.toml:5: this port is in bus mode, with several boards on it: give each board's `serial` instead
  |
5 | port = "/dev/ttyS0"
  |        ^^^^^^^^^^^^"#,
    );
}

#[test]
fn values_unknown_to_the_laws_are_refused() {
    assert_refused(
        "[event]\nlaws = \"fide-2020\"\n",
        r#"
kiebitz.toml:2: "fide-2020" is not an edition of the Laws; expected one of fide-1997, fide-2009, fide-2014, fide-2017, fide-2018, fide-2023
  |
2 | laws = "fide-2020"
  |        ^^^^^^^^^^^"#,
    );
    assert_refused(
        "[event]\ntime_control = \"90 min/40 + fast\"\n",
        r#"
kiebitz.toml:2: time control "90 min/40 + fast": found "fast" where a time belongs
  |
2 | time_control = "90 min/40 + fast"
  |                ^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[[board]]\nserial = \"1\"\nname = \"a\"\nmode = \"bullet\"\n",
        r#"
kiebitz.toml:4: "bullet" is not a mode of play; expected one of standard, rapid, blitz
  |
4 | mode = "bullet"
  |        ^^^^^^^^"#,
    );
    assert_refused(
        "[event.points]\nreversed_limit = \"ten\"\n",
        r#"
kiebitz.toml:2: unknown value `ten`; possible values: both, either
  |
2 | reversed_limit = "ten"
  |                  ^^^^^"#,
    );
    assert_refused(
        "[event.points]\nblitz_2023_minutes = 3\n",
        r#"
kiebitz.toml:2: expected 1 or 2
  |
2 | blitz_2023_minutes = 3
  |                      ^"#,
    );
    assert_refused(
        "[event]\nstart = \"krbqnbnr\"\n",
        r#"
kiebitz.toml:2: "krbqnbnr" is not a start position; expected "standard", "chess960", or the pieces of a Chess960 start from a to h, as in "bbqnnrkr"
  |
2 | start = "krbqnbnr"
  |         ^^^^^^^^^^"#,
    );
}

#[test]
fn invalid_rounds_are_refused() {
    assert_refused(
        "[event]\nrounds = [2026-11-21T14:00:00]\n",
        r#"
kiebitz.toml:2: "2026-11-21T14:00:00" is not the start of a round; expected date, time and offset from UTC, as in 2026-11-21T14:00:00+01:00
  |
2 | rounds = [2026-11-21T14:00:00
  |           ^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[event]\nrounds = [\n  2026-11-21T14:00:00+01:00,\n  \"soon\",\n]\n",
        r#"
kiebitz.toml:4: "soon" is not the start of a round; expected date, time and offset from UTC, as in 2026-11-21T14:00:00+01:00
  |
4 |   "soon"
  |   ^^^^^^"#,
    );
    // Both times are the same instant.
    assert_refused(
        "[[board]]\nserial = \"1\"\nname = \"a\"\nrounds = [2026-11-21T14:00:00+01:00, 2026-11-21T13:00:00Z]\n",
        r#"
kiebitz.toml:4: this round must begin after the one before it
  |
4 | rounds = [2026-11-21T14:00:00+01:00, 2026-11-21T13:00:00Z
  |                                      ^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[event]\nrounds = 2026-11-21T14:00:00+01:00\n",
        r#"
kiebitz.toml:2: expected times in brackets, as in [2026-11-21T14:00:00+01:00]
  |
2 | rounds = 2026-11-21T14:00:00+01:00
  |          ^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[event]\nrounds = [14]\n",
        r#"
kiebitz.toml:2: expected a time as in 2026-11-21T14:00:00+01:00
  |
2 | rounds = [14
  |           ^^"#,
    );
    assert_refused(
        "[event]\ndefault_time = \"half an hour\"\n",
        r#"
kiebitz.toml:2: "half an hour" is not a default time; expected whole minutes, a day at most, as in "30 min", "1 h" or "0 min"
  |
2 | default_time = "half an hour"
  |                ^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[event]\nname = \" \"\n",
        r#"
kiebitz.toml:2: expected text on one line
  |
2 | name = " "
  |        ^^^"#,
    );
}

#[test]
fn the_status_listens_on_this_computer_only() {
    for address in [
        "0.0.0.0:8037",
        "192.168.1.7:8037",
        "[::]:8037",
        "127.0.0.1:0",
        "127.0.0.1",
        "localhost:80",
    ] {
        let text = format!("[http]\nlisten = \"{address}\"\n");
        let error = Config::parse(Path::new("kiebitz.toml"), &text)
            .expect_err(address)
            .to_string();
        assert!(
            error.contains("kiebitz.toml:2: expected an address of this computer"),
            "{error}"
        );
    }
    for address in ["127.0.0.1:8037", "[::1]:8037"] {
        let text = format!("[http]\nlisten = \"{address}\"\n");
        let config = Config::parse(Path::new("kiebitz.toml"), &text).expect("an address");
        assert_eq!(config.http, address.parse().ok());
    }
}
