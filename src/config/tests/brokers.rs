//! Refused broker settings, with their messages. Passwords must not be shown.

use super::refusals::assert_refused;

#[test]
fn invalid_brokers_are_refused_without_showing_a_password() {
    assert_refused(
        "[mqtt]\nurl = \"http://broker.example\"\n",
        r#"
kiebitz.toml:2: the broker's URL must begin with mqtt:// or mqtts://, not http://
  |
2 | url = "http://broker.example"
  |       ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtts://club:secret@[fe80::1%eth0]\"\n",
        r#"
kiebitz.toml:2: in the URL of an encrypted connection, write an IPv6 address in [ ] and without a zone (%...): the broker's certificate is checked against it
  |
2 | url = "*******************@[fe80::1%eth0]"
  |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtt://club:secret\"\n",
        r#"
kiebitz.toml:2: the broker's port must be a number from 1 to 65535; with a user it is USER:PASSWORD@HOST:PORT
  |
2 | url = "******************"
  |       ^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "mqtt = \"mqtt://club:secret@localhost\"\n",
        r#"
kiebitz.toml:1: expected a table, as in [mqtt]
  |
1 | mqtt = "******************@localhost"
  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nprefix = \"club/#\"\n",
        r#"
kiebitz.toml:3: "club/#" contains '#', which MQTT topics cannot contain
  |
3 | prefix = "club/#"
  |          ^^^^^^^^"#,
    );
}

#[test]
fn inconsistent_logins_are_refused() {
    assert_refused(
        "[mqtt]\nurl = \"mqtt://club@localhost\"\nuser = \"club\"\n",
        r#"
kiebitz.toml:3: `url` already contains a user: remove one of the two
  |
3 | user = "club"
  |        ^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtt://club:secret@localhost\"\npassword_file = \"/etc/kiebitz/password\"\n",
        r#"
kiebitz.toml:3: `url` already contains a password: remove one of the two
  |
3 | password_file = "*********************"
  |                 ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\npassword_file = \"/etc/kiebitz/password\"\n",
        r#"
kiebitz.toml:3: a password needs a user: `user` is missing
  |
3 | password_file = "*********************"
  |                 ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nuser = \"club\"\npassword_file = \"secret\"\n",
        r#"
kiebitz.toml:4: expected an absolute path, beginning with "/"
  |
4 | password_file = "******"
  |                 ^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nuser = \"\"\n",
        r#"
kiebitz.toml:3: the user's name is empty
  |
3 | user = ""
  |        ^^"#,
    );
}

#[test]
fn inconsistent_certificates_are_refused() {
    assert_refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nca_file = \"/etc/kiebitz/ca.pem\"\n",
        r#"
kiebitz.toml:3: certificates are only for encrypted connections: `url` must begin with mqtts://
  |
3 | ca_file = "/etc/kiebitz/ca.pem"
  |           ^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtts://localhost\"\nclient_certificate = \"/etc/kiebitz/club.pem\"\n",
        r#"
kiebitz.toml:3: a certificate needs its key: `client_key` is missing
  |
3 | client_certificate = "/etc/kiebitz/club.pem"
  |                      ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    assert_refused(
        "[mqtt]\nurl = \"mqtts://localhost\"\nclient_key = \"/etc/kiebitz/club.key\"\n",
        r#"
kiebitz.toml:3: a key needs its certificate: `client_certificate` is missing
  |
3 | client_key = "/etc/kiebitz/club.key"
  |              ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
}
