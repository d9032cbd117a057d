use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{SmtpTls, TestSmtp, smtp};

use super::*;

fn mail() -> Mail {
    Mail {
        from: Some("Shop <shop@example.org>".into()),
        to: vec!["Ann <ann@example.org>".into()],
        bcc: vec!["boss@example.org".into()],
        subject: "Größe".into(),
        body: "<p>Hello</p>".into(),
        attachments: vec![engine::Attachment {
            file_name: "a.bin".into(),
            content_type: "application/octet-stream".into(),
            payload: None,
            content: "AAEC/w==".into(),
        }],
        ..Mail::default()
    }
}

fn client(url: String, ca: Option<PathBuf>) -> Smtp {
    Smtp::new(MailConfig { url: Some(url), from: None, ca }, Depot::default())
}

fn received(server: &TestSmtp) -> Vec<Value> {
    server.messages().iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

fn check(message: &Value) {
    assert_eq!(message["from"], "shop@example.org");
    assert_eq!(message["to"], json!(["ann@example.org", "boss@example.org"]));
    let data = message["data"].as_str().unwrap();
    for part in [
        "Message-ID: <k-1@example.org>",
        "To: Ann <ann@example.org>",
        "<p>Hello</p>",
        "AAEC/w==",
        "filename=\"a.bin\"",
    ] {
        assert!(data.contains(part), "{part} in {data}");
    }
    assert!(!data.contains("boss@"), "{data}");
}

#[tokio::test]
async fn a_message_is_sent_by_starttls_and_again_with_the_same_id() {
    let Some(server) = smtp(SmtpTls::Starttls).await else { return };
    let url = format!("smtp://shop:s3cret%2F%2B@localhost:{}", server.port());
    let smtp = client(url, Some(server.certificate()));
    for _ in 0..2 {
        let end = smtp.send(&mail(), "k-1").await.into_input();
        assert_eq!(end["messageId"], "<k-1@example.org>", "{end:?}");
    }
    let messages = received(&server);
    assert_eq!(messages.len(), 2);
    for message in &messages {
        check(message);
        assert_eq!((&message["encrypted"], &message["user"]), (&json!(true), &json!("shop")));
    }
}

#[tokio::test]
async fn a_message_is_sent_with_tls_from_the_start() {
    let Some(server) = smtp(SmtpTls::Implicit).await else { return };
    let url = format!("smtps://shop:s3cret%2F%2B@localhost:{}", server.port());
    let smtp = client(url, Some(server.certificate()));
    let end = smtp.send(&mail(), "k-1").await.into_input();
    assert!(!end.contains_key("error"), "{end:?}");
    let messages = received(&server);
    check(&messages[0]);
    assert_eq!(messages[0]["encrypted"], true);
}

#[tokio::test]
async fn without_tls_only_if_the_url_says_so() {
    let Some(server) = smtp(SmtpTls::None).await else { return };
    let url = format!("smtp://localhost:{}", server.port());
    let end = client(url.clone(), None).send(&mail(), "k-1").await.into_input();
    assert!(end.contains_key("error") && received(&server).is_empty(), "{end:?}");
    let end = client(format!("{url}?tls=none"), None).send(&mail(), "k-1").await.into_input();
    assert!(!end.contains_key("error"), "{end:?}");
    check(&received(&server)[0]);
}

#[tokio::test]
async fn refusals_have_their_code_and_reach_nobody() {
    let Some(server) = smtp(SmtpTls::Starttls).await else { return };
    let url = |password: &str| format!("smtp://shop:{password}@localhost:{}", server.port());
    let trusting = |password: &str| client(url(password), Some(server.certificate()));
    let end = trusting("wrong").send(&mail(), "k").await.into_input();
    assert_eq!((&end["error"], &end["code"]), (&json!("failed"), &json!("535")), "{end:?}");
    let mut partly = mail();
    partly.to.push("nobody@example.org".into());
    let end = trusting("s3cret%2F%2B").send(&partly, "k").await.into_input();
    assert_eq!((&end["error"], &end["code"]), (&json!("failed"), &json!("550")), "{end:?}");
    let end = client(url("s3cret%2F%2B"), None).send(&mail(), "k").await.into_input();
    assert_eq!(end["error"], "connect", "an unknown authority: {end:?}");
    let message = end["message"].as_str().unwrap();
    let expected = format!("mail server localhost:{}: Connection error: ", server.port());
    assert!(message.starts_with(&expected), "{message}");
    assert_eq!(message.matches("onnection error").count(), 1, "{message}");
    assert!(received(&server).is_empty());
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused() {
    let smtp = client("smtp://127.0.0.1:1".into(), None);
    let check = async |change: &dyn Fn(&mut Mail), expected: &str| {
        let mut mail = mail();
        change(&mut mail);
        let end = smtp.send(&mail, "k").await.into_input();
        let message = end["message"].as_str().unwrap();
        assert!(end["error"] == "refused" && message.contains(expected), "{expected}: {end:?}");
    };
    check(&|mail| mail.from = None, "no sender").await;
    check(&|mail| mail.to = vec!["a@b\r\nBcc: x@y".into()], "not a mail address").await;
    check(&|mail| mail.subject = "a\r\nBcc: x@y".into(), "line break").await;
    check(&|mail| mail.bcc = vec!["a@b.c".into(); 101], "more than the 100").await;
    check(&|mail| mail.attachments[0].content = "?".into(), "a.bin").await;
    let end =
        Smtp::new(MailConfig::default(), Depot::default()).send(&mail(), "k").await.into_input();
    assert!(end["message"].as_str().unwrap().contains("smtp-url"), "{end:?}");
    let end = smtp.send(&mail(), "k").await.into_input();
    assert_eq!(end["error"], "connect", "{end:?}");
}

#[test]
fn settings_with_which_no_mail_is_sent_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("host"), "one\n").unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    std::fs::write(path("broken.pem"), broken).unwrap();
    let config = |url: &str, from: &str, ca: Option<&str>| MailConfig {
        url: Some(url.to_owned()).filter(|url| !url.is_empty()),
        from: Some(from.to_owned()).filter(|from| !from.is_empty()),
        ca: ca.map(path),
    };
    for (config, says) in [
        (config("smtp://h:99999", "", None), "smtp-url: invalid port"),
        (config("smtp://", "", None), "smtp-url: "),
        (config("", "nobody", None), "smtp-from: \"nobody\" is not a mail address"),
        (
            config("smtp://h", "", Some("nope.pem")),
            "smtp-ca: the file cannot be read: No such file",
        ),
        (config("smtp://h", "", Some("host")), "smtp-ca: there is no certificate in it"),
        (config("", "", Some("broken.pem")), "smtp-ca: "),
    ] {
        let Unfit { setting, reason } = config.check().unwrap_err();
        let said = format!("{setting}: {reason}");
        assert!(said.starts_with(says), "{said}");
    }
    let good = config("smtps://u:p@h:465", "Shop <shop@example.org>", None);
    assert_eq!(good.check(), Ok(()));
    assert_eq!(MailConfig::default().check(), Ok(()));
}
