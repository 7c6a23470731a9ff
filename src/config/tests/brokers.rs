//! Which brokers are refused, in which words, and that no password is among them.

use super::refusals::refused;

#[test]
fn brokers_that_cannot_be_are_refused_and_no_password_is_shown() {
    refused(
        "[mqtt]\nurl = \"http://broker.example\"\n",
        r#"
kiebitz.toml:2: the broker's URL must begin with mqtt:// or mqtts://, not http://
  |
2 | url = "http://broker.example"
  |       ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtts://club:secret@[fe80::1%eth0]\"\n",
        r#"
kiebitz.toml:2: in the URL of an encrypted connection, write an IPv6 address in [ ] and without a zone (%...): the broker's certificate is checked against it
  |
2 | url = "*******************@[fe80::1%eth0]"
  |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtt://club:secret\"\n",
        r#"
kiebitz.toml:2: the broker's port must be a number from 1 to 65535; with a user it is USER:PASSWORD@HOST:PORT
  |
2 | url = "******************"
  |       ^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "mqtt = \"mqtt://club:secret@localhost\"\n",
        r#"
kiebitz.toml:1: expected a table, as in [mqtt]
  |
1 | mqtt = "******************@localhost"
  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nprefix = \"club/#\"\n",
        r#"
kiebitz.toml:3: "club/#" contains '#', which MQTT topics cannot contain
  |
3 | prefix = "club/#"
  |          ^^^^^^^^"#,
    );
}

#[test]
fn logins_that_do_not_add_up_are_refused() {
    refused(
        "[mqtt]\nurl = \"mqtt://club@localhost\"\nuser = \"club\"\n",
        r#"
kiebitz.toml:3: `url` already contains a user: remove one of the two
  |
3 | user = "club"
  |        ^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtt://club:secret@localhost\"\npassword_file = \"/etc/kiebitz/password\"\n",
        r#"
kiebitz.toml:3: `url` already contains a password: remove one of the two
  |
3 | password_file = "*********************"
  |                 ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\npassword_file = \"/etc/kiebitz/password\"\n",
        r#"
kiebitz.toml:3: a password needs a user: `user` is missing
  |
3 | password_file = "*********************"
  |                 ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nuser = \"club\"\npassword_file = \"secret\"\n",
        r#"
kiebitz.toml:4: expected an absolute path, beginning with "/"
  |
4 | password_file = "******"
  |                 ^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nuser = \"\"\n",
        r#"
kiebitz.toml:3: the user's name is empty
  |
3 | user = ""
  |        ^^"#,
    );
}

#[test]
fn certificates_that_do_not_add_up_are_refused() {
    refused(
        "[mqtt]\nurl = \"mqtt://localhost\"\nca_file = \"/etc/kiebitz/ca.pem\"\n",
        r#"
kiebitz.toml:3: certificates are only for encrypted connections: `url` must begin with mqtts://
  |
3 | ca_file = "/etc/kiebitz/ca.pem"
  |           ^^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtts://localhost\"\nclient_certificate = \"/etc/kiebitz/club.pem\"\n",
        r#"
kiebitz.toml:3: a certificate needs its key: `client_key` is missing
  |
3 | client_certificate = "/etc/kiebitz/club.pem"
  |                      ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    refused(
        "[mqtt]\nurl = \"mqtts://localhost\"\nclient_key = \"/etc/kiebitz/club.key\"\n",
        r#"
kiebitz.toml:3: a key needs its certificate: `client_certificate` is missing
  |
3 | client_key = "/etc/kiebitz/club.key"
  |              ^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
}
